//! Ids and bytes from the seed, never from the clock.

use rand::TryRng;

use super::{Label, Seed, Stream};

/// 2024-01-01T00:00:00Z in seconds: the first second of generated ids.
const EPOCH: u64 = 1_704_067_200;

/// The 12 bytes of an ObjectId, ascending with the ordinal as real ones ascend with time.
///
/// Laid out as the server's: 4 bytes of seconds that grow by one every 65,536 ordinals, 5 bytes from (seed, label), 3
/// bytes of counter, the ordinal itself. Ids of one label are different for all ordinals below 2^46.
pub fn object_id(seed: Seed, label: Label, ordinal: u64) -> [u8; 12] {
    let machine = seed.derive(label, 0).value().to_be_bytes();
    let seconds = (EPOCH + (ordinal >> 16)) as u32;
    let mut id = [0; 12];
    id[..4].copy_from_slice(&seconds.to_be_bytes());
    id[4..9].copy_from_slice(&machine[..5]);
    id[9..].copy_from_slice(&(ordinal as u32).to_be_bytes()[1..]);
    id
}

/// A version 4 UUID.
pub fn uuid(stream: &mut Stream) -> [u8; 16] {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&stream.bits().to_be_bytes());
    id[8..].copy_from_slice(&stream.bits().to_be_bytes());
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

/// Random bytes, which do not compress.
pub fn bytes(stream: &mut Stream, n: usize) -> Vec<u8> {
    let mut made = vec![0; n];
    let Ok(()) = stream.try_fill_bytes(&mut made);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_ids_ascend_and_differ() {
        let (seed, label) = (Seed::new(5), Label::new("comment._id#1"));
        let ordinals = [0, 1, 2, 65_535, 65_536, 1_000_000, 1_000_000_000, 1_000_000_001, (1 << 46) - 1];
        let ids: Vec<_> = ordinals.iter().map(|ordinal| object_id(seed, label, *ordinal)).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        assert_ne!(object_id(seed, Label::new("post._id#1"), 7), object_id(seed, label, 7));
    }

    #[test]
    fn uuids_are_version_4() {
        let id = uuid(&mut Stream::new(Seed::new(1), Label::new("u"), 0));
        assert_eq!((id[6] >> 4, id[8] >> 6), (4, 2));
    }

    #[test]
    fn bytes_have_their_length() {
        for n in [0, 1, 7, 8, 9, 1_000] {
            assert_eq!(bytes(&mut Stream::new(Seed::new(1), Label::new("b"), 0), n).len(), n);
        }
    }
}
