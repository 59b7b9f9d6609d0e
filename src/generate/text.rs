//! Readable text.

use super::Stream;
use super::vocabulary::{CITIES, FIRST_NAMES, LAST_NAMES, WORDS};

fn pick(stream: &mut Stream, list: &[&'static str]) -> &'static str {
    list[stream.below(list.len() as u64) as usize]
}

/// Returns `n` words, a space between them.
pub fn words(stream: &mut Stream, n: usize) -> String {
    let mut made = String::with_capacity(n * 7);
    for word in 0..n {
        if word > 0 {
            made.push(' ');
        }
        made.push_str(pick(stream, WORDS));
    }
    made
}

/// A word and the space after it, and in the last byte the length of both. Of one size, so that they are copied without a look
/// at how long they are, and lie together: a call that begins after a long wait finds nothing of them in the cache.
type Spaced = [u8; 16];

/// The word for each byte.
static SPACED: [Spaced; 256] = spaced();

const fn spaced() -> [Spaced; 256] {
    let mut table = [[b' '; 16]; 256];
    let mut byte = 0;
    while byte < table.len() {
        let word = WORDS[byte * WORDS.len() / 256].as_bytes();
        let mut at = 0;
        while at < word.len() {
            table[byte][at] = word[at];
            at += 1;
        }
        table[byte][15] = word.len() as u8 + 1;
        byte += 1;
    }
    table
}

/// Words and spaces, cut to exactly this many bytes.
pub fn text(stream: &mut Stream, bytes: usize) -> String {
    let mut made = Vec::with_capacity(bytes + 16);
    // Eight words come from one draw of 64 bits: there are at most 256 words.
    while made.len() < bytes {
        for byte in stream.bits().to_le_bytes() {
            let word = &SPACED[usize::from(byte)];
            let end = made.len() + usize::from(word[15]);
            made.extend_from_slice(word);
            made.truncate(end);
            if end >= bytes {
                break;
            }
        }
    }
    made.truncate(bytes);
    String::from_utf8(made).expect("words are ASCII")
}

/// A first and a last name.
pub fn full_name(stream: &mut Stream) -> String {
    [pick(stream, FIRST_NAMES), pick(stream, LAST_NAMES)].join(" ")
}

/// The name of person `index`; different for different indexes.
pub fn full_name_of(index: u64) -> String {
    let (firsts, lasts) = (FIRST_NAMES.len() as u64, LAST_NAMES.len() as u64);
    let first = FIRST_NAMES[(index % firsts) as usize];
    let last = LAST_NAMES[(index / firsts % lasts) as usize];
    match index / (firsts * lasts) {
        0 => [first, last].join(" "),
        again => format!("{first} {last} {}", again + 1),
    }
}

/// A city.
pub fn city(stream: &mut Stream) -> &'static str {
    pick(stream, CITIES)
}

/// An address of the private network 10.0.0.0/8.
pub fn ip(stream: &mut Stream) -> String {
    let bits = stream.bits().to_be_bytes();
    format!("10.{}.{}.{}", bits[0], bits[1], bits[2])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::{Label, Seed};
    use super::*;

    fn stream(ordinal: u64) -> Stream {
        Stream::new(Seed::new(9), Label::new("text"), ordinal)
    }

    #[test]
    fn names_of_persons_differ() {
        let names: HashSet<String> = (0..20_000).map(full_name_of).collect();
        assert_eq!(names.len(), 20_000);
    }

    #[test]
    fn vocabulary_fits_a_byte() {
        assert!(WORDS.len() <= 256);
        assert_eq!(WORDS.iter().collect::<HashSet<_>>().len(), WORDS.len());
        for (byte, spaced) in SPACED.iter().enumerate() {
            let word = WORDS[byte * WORDS.len() / 256];
            assert_eq!(spaced[..usize::from(spaced[15])], *format!("{word} ").as_bytes());
        }
    }

    proptest! {
        #[test]
        fn text_has_its_length_and_is_plain(bytes in 0_usize..2_000, ordinal in any::<u64>()) {
            let made = text(&mut stream(ordinal), bytes);
            prop_assert_eq!(made.len(), bytes);
            prop_assert!(made.bytes().all(|byte| byte == b' ' || byte.is_ascii_lowercase()));
        }

        #[test]
        fn words_are_counted(n in 1_usize..50, ordinal in any::<u64>()) {
            prop_assert_eq!(words(&mut stream(ordinal), n).split(' ').count(), n);
        }
    }
}
