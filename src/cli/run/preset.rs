//! Presets as values of `--preset`, with their numbers in the help.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::report::counted;
use crate::results::Preset;

impl ValueEnum for Preset {
    fn value_variants<'a>() -> &'a [Self] {
        &Preset::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let purpose = match self {
            Preset::Smoke => "a check that it runs",
            Preset::Quick => "a first answer",
            Preset::Full => "an answer to act on",
            Preset::Publish => "the narrowest intervals",
        };
        let length = self.length();
        let (rounds, own, seconds) = (counted(length.rounds, "round"), length.own_calls, length.seconds);
        let help = format!(
            "{purpose}; {rounds}; per strategy at least {own} calls of each operation by itself, {seconds} s with open load, \
             {seconds} s at saturation"
        );
        Some(PossibleValue::new(self.name()).help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_parsed_by_name_and_explained() {
        for preset in Preset::ALL {
            assert_eq!(Preset::from_str(preset.name(), false), Ok(preset));
        }
        let smoke = Preset::Smoke.to_possible_value().unwrap();
        let help = "a check that it runs; 1 round; per strategy at least 6 calls of each operation by itself, 0.2 s with open load, \
                    0.2 s at saturation";
        assert_eq!(smoke.get_help().unwrap().to_string(), help);
    }
}
