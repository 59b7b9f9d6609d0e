//! `run.json.gz`: a run record that is kept in a repository.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// The name of the file with all results of a published run.
pub const COMPRESSED_RUN_FILE: &str = "run.json.gz";

/// The largest record that is read: a small file of zeros must not fill the memory. Runs of seven strategies and twenty rounds
/// have less than a tenth of it.
pub(super) const MOST_BYTES: u64 = 128 * 1024 * 1024;

/// Compresses a text. The same text gives the same bytes.
///
/// # Errors
/// When the encoder fails.
pub(super) fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Reads a compressed file; `None` for one whose text has more than `most` bytes.
///
/// # Errors
/// When it cannot be read, is cut off, or is no gzip file.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    GzDecoder::new(File::open(path)?).take(most + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 <= most).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(COMPRESSED_RUN_FILE);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn texts_survive_and_give_the_same_bytes() {
        let text = br#"{"format":3}"#.repeat(1_000);
        let bytes = compress(&text).unwrap();
        assert_eq!(compress(&text).unwrap(), bytes);
        let (_folder, path) = written(&bytes);
        assert_eq!(read(&path, text.len() as u64).unwrap(), Some(text));
    }

    #[test]
    fn small_files_of_large_texts_are_not_read_to_their_end() {
        let bytes = compress(&vec![b' '; 3_000_000]).unwrap();
        assert!(bytes.len() < 10_000, "{}", bytes.len());
        let (_folder, path) = written(&bytes);
        assert_eq!(read(&path, 2_999_999).unwrap(), None);
        assert_eq!(read(&path, 3_000_000).unwrap().map(|text| text.len()), Some(3_000_000));
    }

    #[test]
    fn cut_off_and_foreign_files_are_errors() {
        let bytes = compress(b"text").unwrap();
        for broken in [&bytes[..bytes.len() - 3], b"no gzip", b""] {
            assert!(read(&written(broken).1, 1_000).is_err());
        }
    }
}
