use trajectory::Episode;

use super::*;

fn call(sequence: i32, tool: &str, result: &str) -> Call {
    Call {
        experiment: "e".to_owned(),
        episode_id: "ep_1".to_owned(),
        sequence,
        turn: Some(0),
        role: Some("buyer".to_owned()),
        tool: tool.to_owned(),
        server: None,
        call_id: Some(format!("c{sequence}")),
        arguments: Some(format!("{{\"n\":{sequence}}}")),
        arguments_state: Capture::Captured,
        result: Some(result.to_owned()),
        result_state: Capture::Captured,
        is_error: Some(false),
        error_class: None,
        error_message: None,
        started_us: None,
        ended_us: None,
    }
}

fn message(role: &str, content: &str, calls: &str) -> Message {
    Message {
        experiment: "e".to_owned(),
        episode_id: "ep_1".to_owned(),
        sequence: 0,
        turn: Some(0),
        party: Some("buyer".to_owned()),
        role: role.to_owned(),
        content: Some(content.to_owned()).filter(|content| !content.is_empty()),
        tool_calls: Some(calls.to_owned()).filter(|calls| !calls.is_empty()),
        model: None,
        input_tokens: None,
        output_tokens: None,
        latency_us: None,
        finish_reason: None,
        extra: None,
    }
}

fn shown(messages: Vec<Message>, calls: Vec<Call>) -> String {
    transcript(&EpisodeRecord {
        episode: Episode::new("e", "ep_1", "market"),
        calls,
        messages,
        scores: Vec::new(),
        tools: Vec::new(),
    })
}

/// Checks that the texts stand in this order.
fn in_order(html: &str, texts: &[&str]) {
    let mut rest = html;
    for text in texts {
        rest = rest
            .split_once(text)
            .unwrap_or_else(|| panic!("no `{text}` in its place:\n{html}"))
            .1;
    }
}

#[test]
fn calls_stand_below_the_message_that_made_them() {
    let html = shown(
        vec![
            message("user", "your turn", ""),
            message(
                "assistant",
                "I look first",
                r#"[{"id":"c1","name":"read","arguments":"{}"},{"id":"c9","name":"move","arguments":"{\"x\":1}"}]"#,
            ),
            message("tool", "seen", ""),
            message("tool", "not executed: your turn has ended", ""),
            message("user", "your turn", ""),
            message("assistant", "now", r#"[{"id":"c2","name":"move"}]"#),
        ],
        vec![
            call(1, "read", "seen"),
            call(2, "move", "moved"),
            call(3, "stray", "odd"),
        ],
    );
    in_order(
        &html,
        &[
            "turn 0, buyer",
            "your turn",
            "I look first",
            "<b>read</b></code> <code>{\"n\":1}",
            "seen",
            "written, not carried out</span> <code><b>move</b>",
            "{\"x\":1}",
            "told to the model",
            "not executed",
            "now",
            "<b>move</b></code> <code>{\"n\":2}",
            "moved",
            "<b>stray</b>",
        ],
    );
    assert_eq!(
        html.matches("your turn</pre>").count(),
        1,
        "a prompt is shown once"
    );
    assert_eq!(html.matches("seen").count(), 1, "a result is shown once");
}

#[test]
fn refusals_name_their_class_and_say_their_sentence() {
    let mut refused = call(0, "move", "This price is <outside> your limit.");
    refused.is_error = Some(true);
    refused.error_class = Some("outside_limit".to_owned());
    refused.error_message = refused.result.clone();
    let html = shown(Vec::new(), vec![refused]);
    in_order(
        &html,
        &["call failed", "outside_limit", "&lt;outside&gt; your limit"],
    );
    assert_eq!(
        html.matches("your limit").count(),
        1,
        "the sentence is not repeated"
    );
}

#[test]
fn long_texts_are_folded_and_then_cut_and_missing_ones_named() {
    let mut long = call(0, "read", &"x".repeat(CUT + 12));
    long.arguments = None;
    long.arguments_state = Capture::NotCaptured;
    let html = shown(Vec::new(), vec![long]);
    in_order(
        &html,
        &[
            "buyer calls (not captured)",
            "<details><summary>",
            "4012 characters</summary>",
            "12 characters after the first 4000 are left out",
            "whetstone collector show ep_1 --full",
        ],
    );
    assert!(shown(Vec::new(), Vec::new()).contains("No message and no tool call"));
}

#[test]
fn elements_are_closed_whatever_is_recorded() {
    let html = shown(
        vec![
            message("</div><system>", "</pre></details>", "not JSON"),
            message("assistant", "", r#"[{"name":"</code>"}]"#),
        ],
        vec![call(0, "</p></div>", "</code></details>")],
    );
    for element in ["div", "p", "pre", "code", "details", "span", "b"] {
        let opened = html.matches(&format!("<{element}>")).count()
            + html.matches(&format!("<{element} ")).count();
        assert_eq!(
            opened,
            html.matches(&format!("</{element}>")).count(),
            "{element}:\n{html}"
        );
    }
}
