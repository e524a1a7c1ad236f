//! Toolset versions: served as they are, side by side, each to its own tokens.

use market::contract;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use trajectory::{ComponentId, Toolset};

use crate::support::{Party, World, terms, terms_with};

fn rewritten(text: &str) -> Toolset {
    let mut toolset = contract::baseline();
    assert!(toolset.set_text(&ComponentId::tool("propose"), text));
    assert!(toolset.set_text(
        &ComponentId::parameter("propose", "price"),
        "Whole number, \"quoted\" and\nbroken."
    ));
    toolset
}

fn transport(world: &World, party: &Party) -> StreamableHttpClientTransport<reqwest::Client> {
    StreamableHttpClientTransport::with_client(
        world.http.clone(),
        StreamableHttpClientTransportConfig::with_uri(world.market.mcp_url())
            .auth_header(party.token.clone()),
    )
}

async fn listed(client: RunningService<RoleClient, ()>) -> Toolset {
    let tools = client.list_all_tools().await.expect("lists");
    client.cancel().await.expect("closes");
    Toolset::from_value(serde_json::to_value(tools).unwrap()).expect("a toolset")
}

#[tokio::test]
async fn a_versions_id_survives_the_way_to_the_client_in_both_protocol_eras() {
    let world = World::new().await;
    for toolset in [
        contract::baseline(),
        rewritten("Names a price — in ünïcode."),
        contract::with_notes(&contract::baseline()),
    ] {
        let id = world.admin.register(&toolset).await.expect("registers");
        assert_eq!(id, toolset.id());
        let game = world.open(terms_with(json!({"toolset": id}))).await;
        assert_eq!(game.toolset_id, id);
        let legacy = ().serve(transport(&world, &game.buyer)).await.expect("connects");
        let mode = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        };
        let modern =
            ().serve_with_lifecycle(transport(&world, &game.seller), mode)
                .await
                .expect("connects");
        for received in [listed(legacy).await, listed(modern).await] {
            assert_eq!(received.id(), id);
            for tool in received.tools() {
                assert_eq!(tool.raw()["_meta"]["whetstone/toolset"], json!(id));
            }
            assert!(contract::check(&received).is_ok());
        }
    }
}

#[tokio::test]
async fn two_versions_are_served_side_by_side() {
    let world = World::new().await;
    let first = world.open(terms()).await;
    let id = world
        .admin
        .register(&rewritten("Another text."))
        .await
        .unwrap();
    let second = world.open(terms_with(json!({"toolset": id}))).await;
    // A version registered meanwhile does not reach those who play already.
    world
        .admin
        .register(&rewritten("A third text."))
        .await
        .unwrap();
    let describe = |answer: Value| answer["result"]["tools"][1]["description"].clone();
    for _ in 0..2 {
        assert_eq!(
            describe(first.buyer.rpc("tools/list", json!({})).await),
            json!("Makes a proposal.")
        );
        assert_eq!(
            describe(second.buyer.rpc("tools/list", json!({})).await),
            json!("Another text.")
        );
    }
    let answer = first.buyer.rpc("tools/list", json!({})).await;
    assert_ne!(
        answer["result"]["cacheScope"],
        json!("public"),
        "lists differ by token"
    );
}

#[tokio::test]
async fn versions_that_change_more_than_texts_are_refused() {
    let world = World::new().await;
    let mut value = contract::baseline().to_value();
    value["tools"][1]["inputSchema"]["properties"]["price"]["type"] = json!("string");
    let error = world
        .admin
        .register(&Toolset::from_value(value).unwrap())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("propose"), "{error}");
    let mut value = contract::baseline().to_value();
    value["tools"].as_array_mut().unwrap().pop();
    let error = world
        .admin
        .register(&Toolset::from_value(value).unwrap())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("refuse"), "{error}");
    let request =
        serde_json::from_value(terms_with(json!({"toolset": "ts_0000000000000000"}))).unwrap();
    let error = world.admin.open(&request).await.unwrap_err().to_string();
    assert!(error.contains("ts_0000000000000000"), "{error}");
}

#[tokio::test]
async fn rmcps_client_plays_and_sees_refusals_as_results() {
    let world = World::new().await;
    let game = world.open(terms_with(json!({"enforce": true}))).await;
    let client = ().serve(transport(&world, &game.buyer)).await.expect("connects");
    let call = |tool: &'static str, arguments: Value| {
        let params = rmcp::model::CallToolRequestParams::new(tool)
            .with_arguments(arguments.as_object().unwrap().clone());
        client.call_tool(params)
    };
    let refused = call("propose", json!({"negotiation_id": game.id, "price": 500}))
        .await
        .expect("a result, not an error");
    assert_eq!(refused.is_error, Some(true));
    assert!(refused.structured_content.is_none());
    let text = serde_json::to_value(&refused.content[0]).unwrap()["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.contains("outside your own limit"),
        "the reason is not swallowed: {text}"
    );
    assert_eq!(
        refused.meta.unwrap().0["whetstone/refusal"],
        json!("outside_limit")
    );
    let done = call("propose", json!({"negotiation_id": game.id, "price": 50}))
        .await
        .expect("a result");
    assert_eq!(done.structured_content.unwrap()["price"], json!(50));
    client.cancel().await.expect("closes");
}

/// Whether a value is what a schema of the baseline says; it knows the few keywords that they use.
fn fits(value: &Value, schema: &Value) -> bool {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "null" => value.is_null(),
        _ => false,
    };
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(is),
        kind => kind.as_str().is_some_and(is),
    };
    let listed = schema["enum"]
        .as_array()
        .is_none_or(|names| names.contains(value));
    let items = value
        .as_array()
        .is_none_or(|items| items.iter().all(|item| fits(item, &schema["items"])));
    let members = value.as_object().is_none_or(|members| {
        let required = schema["required"].as_array().expect("a list");
        required
            .iter()
            .filter_map(Value::as_str)
            .all(|name| members.contains_key(name))
            && members
                .iter()
                .all(|(name, member)| fits(member, &schema["properties"][name]))
    });
    kinds && listed && items && members
}

#[tokio::test]
async fn results_are_what_the_output_schemas_say() {
    let world = World::new().await;
    let baseline = contract::baseline();
    let schema = |tool: &str| baseline.tool(tool).expect("a tool").raw()["outputSchema"].clone();
    let id = world
        .admin
        .register(&contract::with_notes(&baseline))
        .await
        .unwrap();
    for last in ["accept_proposal", "refuse"] {
        let game = world.open(terms_with(json!({"toolset": id}))).await;
        let mut seen = vec![("get_negotiation", game.buyer.done("get_negotiation").await)];
        let noted = json!({"negotiation_id": game.id, "price": 50, "note": "cash"});
        seen.push(("propose", game.buyer.raw("propose", noted).await.value));
        seen.push(("reject_proposal", game.seller.done("reject_proposal").await));
        world
            .admin
            .pass(&game.id, market::Role::Buyer)
            .await
            .unwrap();
        seen.push(("propose", game.seller.proposed(100).await));
        seen.push((last, game.buyer.done(last).await));
        seen.push(("get_negotiation", game.seller.done("get_negotiation").await));
        for (tool, value) in &seen {
            assert!(fits(value, &schema(tool)), "{tool}: {value}");
        }
    }
    assert!(
        !fits(&json!({"done": "propose"}), &schema("propose")),
        "the test itself can fail"
    );
}

#[tokio::test]
async fn notes_reach_the_counterpart_as_plain_text_where_the_version_has_them() {
    let world = World::new().await;
    let id = world
        .admin
        .register(&contract::with_notes(&contract::baseline()))
        .await
        .unwrap();
    let game = world.open(terms_with(json!({"toolset": id}))).await;
    let hidden = "a\u{200b}b\u{202e}c\u{e0041}d\u{feff}e\u{1b}[31mf\u{0}";
    let arguments = |note: Value| json!({"negotiation_id": game.id, "price": 50, "note": note});
    let told = game
        .buyer
        .raw("propose", arguments(json!("x".repeat(501))))
        .await;
    assert!(told.failed && told.text.contains("`note`"), "{}", told.text);
    let told = game.buyer.raw("propose", arguments(json!(hidden))).await;
    assert!(!told.failed, "{}", told.text);
    let view = game.seller.done("get_negotiation").await;
    assert_eq!(view["moves"][1]["note"], json!("abcde[31mf"));
}
