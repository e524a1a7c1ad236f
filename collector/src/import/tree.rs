//! The steps of a trace in order, and who is above whom.
//!
//! Exports promise no order, and filters remove parents; parents can even form circles. A step whose parent
//! is not there counts as a root.

use std::collections::BTreeMap;

use super::step::{Step, Trace};

/// Ancestors further up are not looked at; real traces are flatter.
const MAX_ANCESTORS: usize = 64;

/// The steps of a trace.
pub(crate) struct Tree<'a> {
    /// By start time, parents before children that start with them.
    pub(crate) steps: Vec<&'a Step>,
    /// Steps that name a parent which is not in the trace.
    pub(crate) orphans: usize,
    by_id: BTreeMap<&'a str, &'a Step>,
}

impl<'a> Tree<'a> {
    /// Orders the steps of a trace.
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let by_id: BTreeMap<&str, &Step> = trace
            .steps
            .values()
            .map(|step| (step.id.as_str(), step))
            .collect();
        let orphans = by_id
            .values()
            .filter(|step| {
                step.parent
                    .as_deref()
                    .is_some_and(|parent| !by_id.contains_key(parent))
            })
            .count();
        let mut tree = Self {
            steps: by_id.values().copied().collect(),
            orphans,
            by_id,
        };
        let mut steps = std::mem::take(&mut tree.steps);
        // A step without a time stays behind those that have one.
        steps.sort_by_cached_key(|step| {
            (
                step.started_us.unwrap_or(i64::MAX),
                tree.ancestors(step).len(),
                step.id.clone(),
            )
        });
        tree.steps = steps;
        tree
    }

    /// The steps above one, nearest first.
    pub(crate) fn ancestors(&self, step: &Step) -> Vec<&'a Step> {
        let mut above: Vec<&Step> = Vec::new();
        let mut next = step.parent.as_deref();
        while let Some(parent) = next.and_then(|id| self.by_id.get(id)) {
            let circle = parent.id == step.id || above.iter().any(|known| known.id == parent.id);
            if circle || above.len() >= MAX_ANCESTORS {
                break;
            }
            above.push(parent);
            next = parent.parent.as_deref();
        }
        above
    }

    /// Whether a step has no parent here.
    pub(crate) fn is_root(&self, step: &Step) -> bool {
        step.parent
            .as_deref()
            .is_none_or(|parent| !self.by_id.contains_key(parent))
    }

    /// A step by its id.
    pub(crate) fn step(&self, id: &str) -> Option<&'a Step> {
        self.by_id.get(id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_by_time_then_depth_and_survives_circles() {
        let step = |id: &str, parent: Option<&str>, at: Option<i64>| Step {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            started_us: at,
            ..Step::default()
        };
        let mut trace = Trace::default();
        for step in [
            step("a", Some("b"), Some(5)),
            step("b", Some("z"), Some(5)),
            step("z", None, Some(5)),
            step("early", Some("gone"), Some(1)),
            step("untimed", None, None),
            step("x", Some("y"), Some(9)),
            step("y", Some("x"), Some(8)),
            step("self", Some("self"), Some(7)),
        ] {
            trace.steps.insert(step.id.clone(), step);
        }
        let tree = Tree::new(&trace);
        let order: Vec<&str> = tree.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(order, ["early", "z", "b", "a", "self", "y", "x", "untimed"]);
        assert_eq!(tree.orphans, 1);
        assert!(tree.is_root(tree.step("early").unwrap()));
        assert!(!tree.is_root(tree.step("a").unwrap()));
    }

    #[test]
    fn a_long_chain_is_cut() {
        let mut trace = Trace::default();
        for number in 0..2000 {
            let step = Step {
                id: number.to_string(),
                parent: (number > 0).then(|| (number - 1).to_string()),
                ..Step::default()
            };
            trace.steps.insert(step.id.clone(), step);
        }
        let tree = Tree::new(&trace);
        assert_eq!(
            tree.ancestors(tree.step("1999").unwrap()).len(),
            MAX_ANCESTORS
        );
    }
}
