//! Numbers to cite: sentences that an editor has chosen, with numbers that claims have measured.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::cli::exit::CliError;
use crate::cli::next::NextCommand;
use crate::cli::onward::{RULES_FILE, scenario_page};
use crate::report::run::sections::claims::{measure, value};
use crate::report::write::escape::escape;
use crate::report::{encoded, interval, plain, three};
use crate::results::{ClaimOutcome, ClaimRecord, ClaimResult, Than};
use crate::studies::published::rules::{Rule, claim_conditions};

use super::cite::MeasuredOn;

/// The file next to the results that chooses them.
pub const NUMBERS_FILE: &str = "numbers.json";

/// The version of the file that this build reads.
const NUMBERS_FORMAT: u32 = 1;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumbersFile {
    format: u32,
    numbers: Vec<ChosenNumber>,
}

/// A sentence, and the claim whose numbers it quotes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChosenNumber {
    /// By which links find it. It never changes.
    id: String,
    /// The sentence, with `{ratio}`, `{inverse}`, `{value}` or `{against}`.
    says: String,
    scenario: String,
    claim: String,
}

/// A number to cite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    /// By which links find it.
    pub id: String,
    /// The number by itself.
    pub figure: String,
    /// Its interval, or what it is compared with; empty without any.
    pub range: String,
    /// The sentence.
    pub says: String,
    /// What was measured, on which server, how long, with which mix, and what was set.
    pub conditions: String,
    /// The scenario.
    pub scenario: String,
    /// The claim.
    pub claim: String,
    /// The page with the claim, and its place there.
    pub page: String,
    /// The file with the claim's numbers; `None` where it is not among the claims of scenarios.
    pub data: Option<String>,
    /// The command that measures it again.
    pub command: String,
    /// When it was measured.
    pub measured: MeasuredOn,
}

/// The numbers that a folder of results chooses; none without the file.
///
/// # Errors
/// When the file cannot be read, or a claim that it names is not published or not decided.
pub fn numbers(folder: &Path, rules: &[Rule]) -> Result<Vec<Number>, CliError> {
    let path = folder.join(NUMBERS_FILE);
    let wrong = |reason: String| CliError::usage(format!("{}: {reason}", path.display()));
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let NumbersFile { format, numbers } = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if format != NUMBERS_FORMAT {
        return Err(wrong(format!("its format is {format}; this docshape reads {NUMBERS_FORMAT}")));
    }
    let mut known = BTreeSet::new();
    let of = |one: &ChosenNumber| {
        let is_new = !one.id.is_empty() && known.insert(one.id.clone());
        let found = if is_new {
            number(one, folder, rules)
        } else {
            Err("another number has this id, or it is empty".to_owned())
        };
        found.map_err(|reason| wrong(format!("{}: {reason}", one.id)))
    };
    numbers.iter().map(of).collect()
}

/// What holds for all numbers to cite. `further` says how far another session may be; empty where no result has two sessions.
pub fn note(further: &str) -> String {
    let measured = "Unless its conditions say otherwise, a number is that of a client and a server on one machine, with no network between \
                    them; the server is a replica set of one member, and writes wait for its journal.";
    if further.is_empty() {
        return measured.to_owned();
    }
    format!("{measured} An interval is that of one session; {further}.")
}

/// The numbers as a section in Markdown; empty without any. `further` is that of [`note`].
pub fn markdown(numbers: &[Number], further: &str) -> String {
    if numbers.is_empty() {
        return String::new();
    }
    let row = |one: &Number| {
        let conditions = format!("{}; {}", one.conditions, one.measured.day);
        let [says, figure, range, conditions] =
            [&one.says, &one.figure, &one.range, &conditions].map(|text| escape(text));
        let name = escape(&format!("{}, {}", one.scenario, one.claim));
        let data = one.data.as_ref().map_or_else(|| name.clone(), |data| format!("[{name}]({data})"));
        let Number { id, command, .. } = one;
        format!("| <a id=\"{id}\"></a>[**{figure}**](#{id}) {range} | {says} | {conditions} | {data} | `{command}` |\n")
    };
    let head = format!(
        "## Numbers to cite\n\n{} Each number is a link to itself.\n\n| number | what | conditions | data | repeat |\n|---|---|---|---|---|\n",
        note(further)
    );
    std::iter::once(head).chain(numbers.iter().map(row)).chain(["\n".to_owned()]).collect()
}

fn number(chosen: &ChosenNumber, folder: &Path, rules: &[Rule]) -> Result<Number, String> {
    let ChosenNumber { id, says, scenario, claim } = chosen;
    let is_it = |rule: &&Rule| rule.record.scenario == *scenario && rule.decided.claim.id == *claim;
    let rule = rules
        .iter()
        .find(is_it)
        .ok_or_else(|| format!("no claim {claim} of {scenario} is published; correct the names, or publish it"))?;
    // Other runs may decide it, but the number is that of its own.
    let is_decided = rule.decided.outcome() != ClaimOutcome::Undecided;
    if !is_decided || rule.outcome().is_none_or(|outcome| outcome == ClaimOutcome::Undecided) {
        return Err(format!("claim {claim} of {scenario} is not decided; choose another one"));
    }
    let page = scenario_page(scenario).unwrap_or_else(|| RULES_FILE.to_owned());
    let data = format!("claims/{}.json", encoded(scenario));
    let claimed = &rule.decided.claim;
    let filled = Filled { claim: claimed, result: rule.decided.result.without_factor(claimed) };
    let (sentence, figure, range) = filled.sentence(says)?;
    Ok(Number {
        id: encoded(id),
        figure,
        range,
        says: plain(&sentence),
        conditions: plain(&format!("{}, {}", measure(claimed), claim_conditions(rule))),
        scenario: plain(scenario),
        claim: plain(claim),
        page: format!("{page}#{}", rule.address()),
        data: folder.join("claims").join(format!("{scenario}.json")).is_file().then_some(data),
        command: command(rule, claim),
        measured: MeasuredOn::new(&rule.record.started, &rule.record.version),
    })
}

/// The command that measures a claim again.
fn command(rule: &Rule, claim: &str) -> String {
    let next = NextCommand::new(["run", &rule.record.scenario]).preset(rule.record.preset);
    next.option(&format!("claims={claim}"), "").command()
}

/// A claim and its numbers, without the factor that it allows.
struct Filled<'c> {
    claim: &'c ClaimRecord,
    result: ClaimResult,
}

impl Filled<'_> {
    /// A sentence with the numbers in their places, the most telling of them by itself, and its range.
    fn sentence(&self, says: &str) -> Result<(String, String, String), String> {
        let ClaimResult { ratio, interval: ends, .. } = self.result;
        let number = |number: f64| value(self.claim, number);
        // A limit was not measured.
        let is_limit = matches!(self.claim.than, Than::Number(_) | Than::Evaluated { .. });
        let against = self.result.against.filter(|_| !is_limit).map(number);
        let range = |ends: Option<[f64; 2]>| ends.map(|[low, high]| format!("95 % CI {}", interval(low, high)));
        let inverse = ends.map(|[low, high]| [high.recip(), low.recip()]);
        let kinds = [
            ("{ratio}", "× ", ratio.map(three), range(ends)),
            ("{inverse}", "× ", ratio.map(|ratio| three(ratio.recip())), range(inverse)),
            (
                "{value}",
                "",
                self.result.value.map(number),
                against.as_ref().map(|against| format!("against {against}")),
            ),
            ("{against}", "", against.clone(), None),
        ];
        let mut sentence = says.to_owned();
        let mut first: Option<(String, String)> = None;
        for (place, mark, text, range) in kinds.into_iter().filter(|(place, ..)| says.contains(place)) {
            let text = text.ok_or_else(|| format!("its claim has no number for {place}"))?;
            sentence = sentence.replace(place, &text);
            first.get_or_insert((format!("{mark}{text}"), range.unwrap_or_default()));
        }
        let (figure, range) = first.ok_or("its sentence has no {ratio}, {inverse}, {value} or {against}")?;
        Ok((sentence, figure, range))
    }
}

#[cfg(test)]
mod tests {
    use crate::results::Verdict;

    use super::*;

    fn filled(times: f64, says: &str) -> Result<(String, String, String), String> {
        let than = Than::Other { strategy: "linked".into(), operation: None, times, expression: None };
        let claim = ClaimRecord { metric: "mean".into(), than, ..ClaimRecord::default() };
        let result = ClaimResult {
            verdict: Verdict::Faster,
            value: Some(1_000_000.0),
            against: Some(4_000_000.0),
            ratio: Some(0.25),
            interval: Some([0.2, 0.5]),
        };
        Filled { claim: &claim, result: result.without_factor(&claim) }.sentence(says)
    }

    #[test]
    fn a_sentence_quotes_the_strategies_and_not_the_factor_of_the_claim() {
        let (says, figure, range) = filled(2.0, "It takes {inverse} times as long: {value}, not {against}.").unwrap();
        assert_eq!(says, "It takes 2.00 times as long: 1.00 ms, not 2.00 ms.");
        assert_eq!((figure.as_str(), range.as_str()), ("× 2.00", "95 % CI 1.00-2.50"));
        let (_, figure, range) = filled(1.0, "It takes {value}.").unwrap();
        assert_eq!((figure.as_str(), range.as_str()), ("1.00 ms", "against 4.00 ms"));
        let than = Than::Evaluated { expression: "cap".into(), number: 1.0 };
        let limit = ClaimRecord { metric: "mean".into(), than, ..ClaimRecord::default() };
        let result =
            ClaimResult { verdict: Verdict::Faster, value: Some(1e6), against: Some(4e6), ratio: None, interval: None };
        let limited = Filled { claim: &limit, result };
        assert_eq!(limited.sentence("It takes {value}.").unwrap().2, "", "a limit is no measurement");
        assert!(limited.sentence("It takes {against}.").is_err() && limited.sentence("{ratio}").is_err());
        assert!(filled(1.0, "It takes long.").unwrap_err().contains("no {ratio}"));
    }
}
