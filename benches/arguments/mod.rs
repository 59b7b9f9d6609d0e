//! The arguments that `cargo bench` and `cargo test --benches` pass to a benchmark without criterion.

/// `cargo bench -- [--test] [WORD...]`.
pub struct Arguments {
    /// Make a short pass: requested with `--test`, and by `cargo test`, which does not pass `--bench`.
    pub quick: bool,
    words: Vec<String>,
}

impl Arguments {
    /// Reads the arguments of this process; ignores options for other benchmarks.
    pub fn read() -> Arguments {
        let (options, words) = std::env::args().skip(1).partition::<Vec<_>, _>(|word| word.starts_with('-'));
        let is_given = |name: &str| options.iter().any(|option| option == name);
        Arguments { quick: is_given("--test") || !is_given("--bench"), words }
    }

    /// Whether to run the benchmark `name`: `cargo bench -- WORD` selects names that contain the word.
    #[allow(dead_code, reason = "criterion has its own filter")]
    pub fn choose(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}
