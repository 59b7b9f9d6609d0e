//! Shapes have to give the model's answers before they are measured.

use std::time::Instant;

use crate::cli::reservation::databases;
use crate::cli::run::Invocation;
use crate::cli::session::Session;
use crate::cli::{CliError, Exit, output};
use crate::engine::refusals;
use crate::report::{counted, plain};
use crate::results::verification::{StrategyFindings, Verification};
use crate::server::embedded::Checkpoints;
use crate::studies::explore::record::{TriedOutcome, TriedRecord};
use crate::studies::explore::report;
use crate::verify::{Verifier, VerifySettings};

use super::exploring::{Exploring, Purpose};

/// The mix that a model has for verification.
const VERIFY_MIX: &str = "verify";

/// Calls per phase in which a shape has to give the model's answers.
const VERIFY_CALLS: u64 = 100;

/// Clients of the concurrent phases.
const VERIFY_CLIENTS: usize = 8;

impl Exploring<'_> {
    /// Verifies shapes, with few calls each, and notes what became of them.
    pub(super) fn verify(&mut self, group: &[String]) -> Result<(), CliError> {
        let mut names = self.with_outcome(group, |outcome| *outcome == TriedOutcome::Derived);
        // The first one answers for reads that the model does not know: not one by hand, which may be wrong.
        names.sort_by_key(|name| self.record.named(name).is_some_and(TriedRecord::is_of_scenario));
        if names.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let has_mix = self.scenario.mixes.iter().any(|mix| mix.name.value == VERIFY_MIX);
        let purpose = Purpose::Verify(has_mix.then(|| VERIFY_MIX.to_owned()));
        let mut plan = self.ready(&names, &purpose)?.plan;
        let namespace = self.arguments.study.server.databases.namespace(&plan.name, &Invocation::now().id);
        let settings = VerifySettings {
            namespace: namespace.clone(),
            command: format!("docshape verify {}", self.source.path),
            calls: VERIFY_CALLS,
            clients: VERIFY_CLIENTS,
            timeout: self.record.settings.timeout(),
        };
        let mut of = databases(&namespace, &plan);
        let concurrent = |name: &String| [namespace.names.concurrent(name), namespace.names.in_order(name)];
        of.extend(names.iter().flat_map(concurrent));
        let (mut found, mut skipped) = (None, Vec::new());
        // Shapes have no command that a server is too old for.
        let has_own = names.iter().any(|name| self.record.named(name).is_some_and(TriedRecord::is_of_scenario));
        Session::run(self.server(Checkpoints::EveryFewSeconds)?, async |session| {
            if has_own {
                skipped = refusals(&session.target, &plan, &of[0], &session.deployment.version).await.skipped;
                names.retain(|name| skipped.iter().all(|one| one.name != *name));
                if names.is_empty() {
                    return Ok(Exit::Success);
                }
                plan = self.ready(&names, &purpose)?.plan;
            }
            let work = async || {
                let target = session.client(settings.connections()).await?;
                Ok(Verifier::new(&plan, settings.clone(), &target, session.stop.clone()).run().await?)
            };
            found = Some(session.with_databases(&namespace, &of, work).await?);
            Ok(Exit::Success)
        })
        .map_err(|error| self.resumable(error))?;
        for findings in found.iter().flat_map(|found: &Verification| &found.strategies) {
            let outcome =
                if findings.is_clean() { TriedOutcome::Verified } else { TriedOutcome::Wrong(first_problem(findings)) };
            self.record
                .tried
                .iter_mut()
                .filter(|one| one.name == findings.name)
                .for_each(|one| one.outcome = outcome.clone());
        }
        for one in &skipped {
            output::line(&format!("  {} is left out: {}", plain(&one.name), plain(&one.reason)));
            let tried = self.record.tried.iter_mut().filter(|tried| tried.name == one.name);
            tried.for_each(|tried| tried.outcome = TriedOutcome::Failed(one.reason.clone()));
        }
        self.save()?;
        output::line(&report::verified(&self.record, &names, started.elapsed()));
        Ok(())
    }
}

/// The first thing that is wrong with a strategy.
fn first_problem(findings: &StrategyFindings) -> String {
    let problems = findings.phases.iter().flat_map(|phase| &phase.problems).map(|problem| problem.title.clone());
    let audits = findings.phases.iter().flat_map(|phase| &phase.audits).filter(|audit| audit.anomalies() > 0);
    let audits = audits.map(|audit| format!("audit {} finds {}", audit.audit, counted(audit.anomalies(), "row")));
    let live = findings
        .live
        .iter()
        .filter(|live| live.fails())
        .map(|live| format!("audit {} fails while calls run", live.audit));
    problems.chain(audits).chain(live).next().unwrap_or_else(|| "it does not give the model's answers".to_owned())
}
