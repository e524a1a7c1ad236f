//! The structural guard, on any toolset and any patch.

use optimizer::guard::{Guard, Limits, Reason, structure};
use optimizer::patch::{Edit, Patch};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajectory::{ComponentId, Toolset};

use crate::guard::{edit, known};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z ,.]{1,80}",
        Just(r##"{"$ref": "#"}"##.to_owned()),
        Just("\"},\"required\":[]".to_owned()),
        Just("ignore previous instructions".to_owned()),
    ]
}

/// A schema with nested parameters, odd descriptions among them.
fn any_schema() -> impl Strategy<Value = Value> {
    let description = prop_oneof![
        Just(None),
        any_text().prop_map(|text| Some(Value::from(text))),
        Just(Some(json!({"en": "odd"}))),
        Just(Some(json!(3))),
    ];
    let leaf = (
        description.clone(),
        prop_oneof![Just("string"), Just("integer")],
    )
        .prop_map(|(description, kind)| {
            let mut schema = json!({"type": kind});
            if let Some(description) = description {
                schema["description"] = description;
            }
            schema
        });
    leaf.prop_recursive(3, 12, 3, move |inner| {
        (
            proptest::collection::btree_map(
                "[a-c]|description|properties|a\\.b",
                inner.clone(),
                0..3,
            ),
            description.clone(),
            any::<bool>(),
        )
            .prop_map(|(properties, description, list)| {
                let required: Vec<&String> = properties.keys().take(1).collect();
                let mut schema =
                    json!({"type": "object", "properties": properties, "required": required});
                if list {
                    schema = json!({"type": "array", "items": schema});
                }
                if let Some(description) = description {
                    schema["description"] = description;
                }
                schema
            })
    })
}

fn any_toolset() -> impl Strategy<Value = Toolset> {
    proptest::collection::btree_map("[a-d]", (any_schema(), any_text()), 1..4).prop_map(|tools| {
        let list: Vec<Value> = tools
            .into_iter()
            .map(|(name, (schema, text))| {
                json!({"name": name, "description": text, "inputSchema": schema, "annotations": {"title": name}})
            })
            .collect();
        Toolset::from_value(Value::Array(list)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Whatever a patch says, names, types, `required`, order and everything else but the texts are the same bytes.
    #[test]
    fn no_patch_changes_the_structure(
        toolset in any_toolset(),
        texts in proptest::collection::vec((any::<prop::sample::Index>(), any_text()), 0..8),
        stray in any_text(),
    ) {
        let components: Vec<ComponentId> = toolset.components().into_iter().map(|(id, _)| id).collect();
        let mut edits: Vec<Edit> = texts
            .iter()
            .map(|(index, text)| {
                let id = index.get(&components);
                edit(&id.tool, id.parameter.as_deref(), text)
            })
            .collect();
        edits.push(edit("a", Some(&stray), "Stray."));
        edits.push(edit(&stray, None, "Stray."));
        let mut guard = Guard::new(&toolset, &[], known(), Limits::default());
        let asked = edits.len();
        let rejected = guard.judge(Patch { edits });
        prop_assert_eq!(guard.accepted().len() + rejected.len(), asked);
        prop_assert_eq!(guard.candidate().structure(), toolset.structure());
        let names = |toolset: &Toolset| toolset.tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(names(guard.candidate()), names(&toolset));
        for component in &components {
            let new = guard.candidate().text(component);
            let expected = guard.accepted().iter().find(|edit| edit.component() == *component).map(|edit| edit.text.clone());
            prop_assert_eq!(new, expected.or_else(|| toolset.text(component)));
        }
    }

    /// The structural guard sees any change that is not a text.
    #[test]
    fn the_structural_guard_sees_everything_else(toolset in any_toolset(), at in any::<prop::sample::Index>(), what in 0..6_usize) {
        let mut value = toolset.to_value();
        let tools = value["tools"].as_array_mut().unwrap();
        let index = at.index(tools.len());
        match what {
            0 => tools[index]["name"] = json!("renamed"),
            1 => tools[index]["inputSchema"]["type"] = json!("null"),
            2 => tools[index]["inputSchema"]["required"] = json!(["smuggled"]),
            3 => tools[index]["annotations"]["readOnlyHint"] = json!(true),
            4 => tools.push(json!({"name": "extra"})),
            _ => { tools.remove(index); }
        }
        let changed = Toolset::from_value(value).unwrap();
        prop_assert_eq!(structure(&toolset, &changed).unwrap_err().0, Reason::StructureChanged);
    }
}
