//! What every command has in common: help with examples, exit codes, errors that say what to do.

use crate::support::{command, text, whetstone};

/// Every command of the program, found by reading the help texts themselves.
fn all_commands() -> Vec<Vec<String>> {
    let mut found = vec![vec![]];
    let mut next = 0;
    while next < found.len() {
        let path: Vec<String> = found[next].clone();
        next += 1;
        let output = command("whetstone")
            .args(&path)
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{path:?}");
        let help = text(&output.stdout);
        let Some(list) = help.split("Commands:\n").nth(1) else {
            continue;
        };
        for line in list.lines().take_while(|line| line.starts_with("  ")) {
            let Some(name) = line
                .strip_prefix("  ")
                .and_then(|l| l.split_whitespace().next())
            else {
                continue;
            };
            // Deeper indentation is a continued description.
            if line.starts_with("   ") || name == "help" {
                continue;
            }
            let mut below = path.clone();
            below.push(name.to_owned());
            found.push(below);
        }
    }
    found
}

#[test]
fn every_command_has_help_with_an_example_and_refuses_unknown_flags() {
    let commands = all_commands();
    let names: Vec<String> = commands.iter().map(|path| path.join(" ")).collect();
    for expected in [
        "demo",
        "market serve",
        "market open",
        "market check",
        "market tools",
        "collector import",
        "collector ls",
        "collector show",
        "optimizer diagnose",
        "optimizer propose",
        "optimizer diff",
        "eval run",
        "eval compare",
        "eval report",
        "eval export",
        "eval plan",
        "eval stats rate",
        "eval stats cmh",
    ] {
        assert!(
            names.iter().any(|name| name == expected),
            "no command `{expected}` in {names:?}"
        );
    }
    let leaves = commands.iter().filter(|path| {
        !path.is_empty()
            && !commands
                .iter()
                .any(|other| other.len() > path.len() && other.starts_with(path))
    });
    for path in leaves {
        let help = text(
            &command("whetstone")
                .args(path)
                .arg("--help")
                .output()
                .unwrap()
                .stdout,
        );
        assert!(
            help.contains("Example"),
            "`{}` shows no example:\n{help}",
            path.join(" ")
        );
        let output = command("whetstone")
            .args(path)
            .arg("--no-such-flag")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "`{}`", path.join(" "));
    }
}

#[test]
fn the_short_names_are_the_same_commands() {
    for (binary, arguments) in [
        ("market", vec!["tools"]),
        ("collector", vec!["ls", "--help"]),
        ("optimizer", vec!["diff", "baseline", "baseline"]),
        ("eval", vec!["run", "--help"]),
    ] {
        let short = command(binary).args(&arguments).output().unwrap();
        assert!(short.status.success(), "{binary}: {}", text(&short.stderr));
        let long = command("whetstone")
            .arg(binary)
            .args(&arguments)
            .output()
            .unwrap();
        assert!(long.status.success());
        if !arguments.contains(&"--help") {
            assert_eq!(text(&short.stdout), text(&long.stdout));
        }
    }
}

#[test]
fn errors_name_what_was_wrong_and_exit_with_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.json"), "{\"tools\": 3}").unwrap();
    std::fs::write(
        folder.path().join("pack.json"),
        r#"[{"id":"a","item":"pen","reserve":5,"budget":-1}]"#,
    )
    .unwrap();
    let cases: [(&[&str], &[&str]); 8] = [
        (&["collector", "ls", "--store", "nowhere"], &["nowhere"]),
        (
            &["collector", "import", "missing.jsonl"],
            &["missing.jsonl"],
        ),
        (&["collector", "import", "bad.json"], &["bad.json"]),
        (
            &["optimizer", "diff", "baseline", "bad.json"],
            &["bad.json"],
        ),
        (
            &["optimizer", "diff", "baseline", "gone.json"],
            &["gone.json"],
        ),
        (
            &["eval", "run", "--pack", "pack.json", "--model", "sim"],
            &["pack.json", "budget"],
        ),
        (
            &["eval", "run", "--pack", "no-such-pack", "--model", "sim"],
            &["no-such-pack", "reference"],
        ),
        (
            &["eval", "run", "--pack", "reference", "--model", "sim:wild"],
            &["wild", "careless"],
        ),
    ];
    for (arguments, expected) in cases {
        let output = whetstone(folder.path(), arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("error: "), "{arguments:?}: {stderr}");
        for word in expected {
            assert!(
                stderr.contains(word),
                "{arguments:?} does not say `{word}`: {stderr}"
            );
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("whetstone"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(status.success(), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}
