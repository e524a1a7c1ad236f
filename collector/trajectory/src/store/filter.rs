//! Which episodes are meant.

use super::StoreError;
use crate::record::Episode;

/// Selects episodes; an absent field selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Experiment.
    pub experiment: Option<String>,
    /// Arm.
    pub arm: Option<String>,
    /// Condition.
    pub condition: Option<String>,
    /// Scenario.
    pub scenario: Option<String>,
    /// Episode id, or the start of one that fits no other.
    pub episode: Option<String>,
}

impl Filter {
    /// Everything of one experiment.
    pub fn experiment(name: &str) -> Self {
        Self {
            experiment: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// Whether more than the experiment is asked for.
    pub(super) fn selects_episodes(&self) -> bool {
        self.arm.is_some()
            || self.condition.is_some()
            || self.scenario.is_some()
            || self.episode.is_some()
    }

    pub(super) fn fits(&self, episode: &Episode) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        same(&self.experiment, Some(&episode.experiment))
            && same(&self.arm, episode.arm.as_deref())
            && same(&self.condition, episode.condition.as_deref())
            && same(&self.scenario, episode.scenario.as_deref())
            && self
                .episode
                .as_deref()
                .is_none_or(|start| episode.episode_id.starts_with(start))
    }

    /// Reduces what [`Filter::fits`] let through to the one episode a prefix means.
    pub(super) fn resolve(&self, mut episodes: Vec<Episode>) -> Result<Vec<Episode>, StoreError> {
        let Some(prefix) = &self.episode else {
            return Ok(episodes);
        };
        if episodes.iter().any(|episode| episode.episode_id == *prefix) {
            episodes.retain(|episode| episode.episode_id == *prefix);
            return Ok(episodes);
        }
        if episodes.len() > 1 {
            let examples: Vec<&str> = episodes
                .iter()
                .take(2)
                .map(|episode| episode.episode_id.as_str())
                .collect();
            return Err(StoreError::AmbiguousEpisode {
                prefix: prefix.clone(),
                count: episodes.len(),
                examples: examples.join(", "),
            });
        }
        Ok(episodes)
    }
}
