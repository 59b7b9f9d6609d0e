//! What `cargo bench` and `cargo test --benches` hand to a benchmark that is not criterion's.

/// `cargo bench -- [--test] [WORD...]`.
pub struct Arguments {
    /// Only see that it works: `--test` asks for that, and so does `cargo test`, which does not say `--bench`.
    pub quick: bool,
    words: Vec<String>,
}

impl Arguments {
    /// Those of this process; all options but `--test` are somebody else's.
    pub fn read() -> Arguments {
        let (options, words) = std::env::args().skip(1).partition::<Vec<_>, _>(|word| word.starts_with('-'));
        let is_given = |wanted: &str| options.iter().any(|option| option == wanted);
        Arguments { quick: is_given("--test") || !is_given("--bench"), words }
    }

    /// Whether a name is asked for: `cargo bench -- WORD` asks all benchmarks for names that hold the word.
    #[allow(dead_code, reason = "criterion chooses by itself")]
    pub fn choose(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}
