//! The pages of the book that show commands with their output: every one is run, and has to print just that.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use eval::report::Annotations;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Commands of the `console` blocks of a page, each with what it prints there.
fn shown(page: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(docs().join(page)).unwrap();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("$ whetstone ") {
            Some(command) if inside => found.push((command.to_owned(), String::new())),
            _ if line.starts_with("```") => inside = line == "```console",
            _ if inside => {
                let (_, output) = found.last_mut().unwrap();
                output.push_str(line);
                output.push('\n');
            }
            _ => {}
        }
    }
    found
}

fn prints(command: &str) -> String {
    let words: Vec<String> = command
        .split_whitespace()
        // The book's commands are run from the top of the repository.
        .map(|word| match word.strip_prefix("docs/") {
            Some(file) => docs().join(file).display().to_string(),
            None => word.to_owned(),
        })
        .collect();
    let mut out = Vec::new();
    eval::cli::run(
        eval::cli::Cli::try_parse_from(words).unwrap(),
        &Annotations::default(),
        &mut out,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_command_of_the_book_prints_what_the_book_says() {
    for (page, fewest) in [
        ("statistics.md", 20),
        ("published.md", 20),
        ("planning.md", 3),
    ] {
        let commands = shown(page);
        assert!(commands.len() >= fewest, "{page}: {}", commands.len());
        for (command, expected) in commands {
            assert_eq!(prints(&command), expected, "{page}: {command}");
        }
    }
}
