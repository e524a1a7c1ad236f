//! The demo: the whole loop, offline, with every artefact it names really there.

use crate::support::{self, text, whetstone};

#[test]
fn the_demo_runs_the_whole_loop_and_its_artefacts_exist() {
    let folder = tempfile::tempdir().unwrap();
    let stdout = support::whetstone_ok(folder.path(), &["demo", "--dir", "out"]);
    assert!(stdout.contains("simulated"), "{stdout}");
    for condition in ["prompt", "server", "prompt_inject", "server_inject"] {
        assert!(stdout.contains(condition), "no {condition}:\n{stdout}");
    }
    let out = folder.path().join("out");
    for name in [
        "diagnosis.md",
        "candidate.json",
        "proposal.md",
        "diff.html",
        "comparison.json",
        "report.html",
    ] {
        let file = out.join(name);
        assert!(
            std::fs::metadata(&file).is_ok_and(|m| m.len() > 100),
            "{} is missing or empty",
            file.display()
        );
        assert!(stdout.contains(name), "{name} is not named:\n{stdout}");
    }

    let report = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("simulated"));
    for outside in ["http://", "https://", "src=\"//", "@import"] {
        let stripped = report.replace("http://www.w3.org/", "");
        assert!(
            !stripped.contains(outside),
            "the report loads or links something outside: {outside}"
        );
    }

    let comparison: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("comparison.json")).unwrap())
            .unwrap();
    assert!(comparison.is_object());

    // The candidate is a version whose only differences are texts.
    let original = text(&whetstone(folder.path(), &["market", "tools", "--json"]).stdout);
    let original = trajectory::Toolset::parse(&original).unwrap();
    let candidate =
        trajectory::Toolset::parse(&std::fs::read_to_string(out.join("candidate.json")).unwrap())
            .unwrap();
    assert_ne!(candidate.id(), original.id());
    assert_eq!(candidate.structure(), original.structure());

    // A second run finds everything recorded.
    let again = support::whetstone_ok(folder.path(), &["demo", "--dir", "out"]);
    assert!(again.contains("report.html"));
}
