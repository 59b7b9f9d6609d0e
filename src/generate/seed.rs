//! Random streams that are addressed rather than advanced.

use std::convert::Infallible;

use rand::TryRng;

/// Where all randomness of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(u64);

/// Names a place that draws, so that no two places share a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(u64);

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), started at a point that (seed, label, ordinal) determine.
///
/// The same on every platform and in every version of docshape: published runs can be repeated. Not for secrets.
#[derive(Debug, Clone)]
pub struct Stream(u64);

/// The increment of SplitMix64: 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64, a bijection that spreads every bit.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Seed {
    /// The seed that the user gave.
    pub const fn new(seed: u64) -> Seed {
        Seed(seed)
    }

    /// A seed of its own for item `index` of what `label` names.
    pub const fn derive(self, label: Label, index: u64) -> Seed {
        Seed(mix(mix(self.0 ^ label.0).wrapping_add(index.wrapping_mul(GOLDEN))))
    }

    /// The number itself.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Label {
    /// The label of a text: FNV-1a, then mixed.
    pub const fn new(text: &str) -> Label {
        let bytes = text.as_bytes();
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut position = 0;
        while position < bytes.len() {
            hash = (hash ^ bytes[position] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            position += 1;
        }
        Label(mix(hash))
    }
}

impl Stream {
    /// The stream of one record or call at one place.
    pub const fn new(seed: Seed, label: Label, ordinal: u64) -> Stream {
        Stream(seed.derive(label, ordinal).0)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number from 0 up to, not including, `bound` (0 for a bound of 0).
    ///
    /// Lemire's multiplication without its rejection: no value is favoured by more than `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        for chunk in destination.chunks_mut(8) {
            let bits = self.bits().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_values() {
        // The first outputs for state 0, as in the reference implementation by Vigna.
        let mut stream = Stream(0);
        let drawn: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn streams_never_change_between_versions() {
        assert_eq!(Label::new("mix").0, 2_139_485_671_492_807_504);
        assert_eq!(Seed::new(1).derive(Label::new("round"), 0).value(), 1_564_071_488_890_774_156);
        let mut stream = Stream::new(Seed::new(42), Label::new("comment.name#1"), 712);
        assert_eq!(stream.bits(), 3_773_026_134_735_110_279);
    }

    #[test]
    fn neighbours_are_unrelated() {
        let label = Label::new("x");
        let ones: u32 = (0..10_000)
            .map(|ordinal| {
                let here = Stream::new(Seed::new(1), label, ordinal).bits();
                let next = Stream::new(Seed::new(1), label, ordinal + 1).bits();
                (here ^ next).count_ones()
            })
            .sum();
        let share = f64::from(ones) / (10_000.0 * 64.0);
        assert!((share - 0.5).abs() < 0.005, "neighbouring streams share bits: {share}");
    }

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut stream = Stream::new(Seed::new(3), Label::new("below"), 0);
        let mut seen = [0; 7];
        for _ in 0..7_000 {
            seen[stream.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
    }
}
