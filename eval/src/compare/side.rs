//! One version of a comparison, and its episodes.

use serde::Serialize;
use trajectory::Episode;

use super::{CompareError, Coverage};
use crate::manifest::Manifest;

/// One version of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Arm.
    pub arm: String,
    /// What the user called it.
    pub label: String,
    /// Toolset id.
    pub toolset: String,
    /// How much of it there is.
    pub coverage: Coverage,
}

/// An arm's episodes, each proven to have been given the arm's version.
pub(super) fn arm<'a>(
    episodes: &'a [Episode],
    manifest: &Manifest,
    name: &str,
) -> Result<(Side, Vec<&'a Episode>), CompareError> {
    let Some(meant) = manifest.toolset(name) else {
        return Err(CompareError::NoArm {
            experiment: manifest.experiment.clone(),
            arm: name.to_owned(),
            known: manifest.arms.join(", "),
        });
    };
    let found: Vec<&Episode> = episodes
        .iter()
        .filter(|episode| {
            episode.experiment == manifest.experiment && episode.arm.as_deref() == Some(name)
        })
        .collect();
    for episode in &found {
        let seen = episode.toolset_seen.as_deref();
        if episode.status == trajectory::Status::Completed && seen != Some(meant) {
            return Err(CompareError::Delivery {
                episode: episode.episode_id.clone(),
                arm: name.to_owned(),
                seen: seen.unwrap_or("nothing").to_owned(),
                meant: meant.to_owned(),
            });
        }
    }
    let side = Side {
        arm: name.to_owned(),
        label: manifest.label(name),
        toolset: meant.to_owned(),
        coverage: Coverage::of(manifest.planned_per_arm(), &found),
    };
    Ok((side, found))
}
