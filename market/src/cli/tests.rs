use super::*;
use clap::CommandFactory as _;

fn output(arguments: &[&str]) -> anyhow::Result<String> {
    let cli = Cli::try_parse_from([&["market"], arguments].concat())?;
    let mut out = Vec::new();
    assert_eq!(run(cli, &mut out)?, Exit::Done);
    Ok(String::from_utf8(out)?)
}

#[test]
fn the_definition_is_sound_and_every_command_has_examples() {
    Cli::command().debug_assert();
    for command in Cli::command().get_subcommands_mut() {
        let name = command.get_name().to_owned();
        let help = command.render_long_help().to_string();
        assert!(help.contains("Examples:"), "{name}");
    }
}

#[test]
fn the_printed_version_file_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("v2.json");
    for flags in [&["tools", "--json"][..], &["tools", "--json", "--notes"]] {
        std::fs::write(&file, output(flags).unwrap()).unwrap();
        let path = file.to_str().unwrap();
        let again = output(&["tools", "--json", "--toolset", path]).unwrap();
        assert_eq!(again, std::fs::read_to_string(&file).unwrap());
    }
    let table = output(&["tools"]).unwrap();
    assert!(table.contains("Makes a proposal.") && table.contains(&contract::baseline().id()));
}

#[test]
fn a_wrong_version_file_is_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.json");
    let path = file.to_str().unwrap();
    for (text, expected) in [
        ("{", "not JSON"),
        ("{}", "no tool list"),
        (r#"{"tools":[{"name":"propose"}]}"#, "get_negotiation"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = format!("{:#}", output(&["tools", "--toolset", path]).unwrap_err());
        assert!(error.contains(path) && error.contains(expected), "{error}");
    }
    let error = format!(
        "{:#}",
        output(&["tools", "--toolset", "none.json"]).unwrap_err()
    );
    assert!(error.contains("none.json"), "{error}");
}

#[test]
fn scenarios_are_listed_with_their_gap_and_the_packs_hash() {
    let text = output(&["scenarios"]).unwrap();
    let hash = crate::scenario::Pack::load("reference").unwrap().hash();
    assert!(text.contains("bicycle") && text.contains(&hash), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&output(&["scenarios", "--pack", "reference", "--json"]).unwrap())
            .unwrap();
    assert_eq!(json["scenarios"][3]["gap"], -10);
    assert_eq!(json["scenarios"][3]["deal_possible"], false);
    let error = output(&["scenarios", "--pack", "nothing"]).unwrap_err();
    assert!(error.to_string().contains("reference"), "{error}");
}

#[test]
fn the_address_is_taken_with_or_without_the_endpoint() {
    let base = |url: &str| {
        Target {
            url: url.to_owned(),
            secret: secret::SecretArgs::of(Path::new("none")),
        }
        .base()
    };
    for url in [
        "http://127.0.0.1:1",
        "http://127.0.0.1:1/",
        "http://127.0.0.1:1/mcp",
        "http://127.0.0.1:1/mcp/",
    ] {
        assert_eq!(base(url).unwrap(), "http://127.0.0.1:1");
    }
    for url in [
        "127.0.0.1:1",
        "file:///etc/passwd",
        "http://a:b@127.0.0.1",
        "",
    ] {
        let error = format!("{:#}", base(url).unwrap_err());
        assert!(error.contains("http://HOST:PORT"), "{url}: {error}");
    }
}
