//! A small reader of Python's `repr`: what older handlers stored instead of JSON.
//!
//! Containers, strings, numbers, `None`, `True`, `False`, and constructor calls such as `Message(role='user')`,
//! whose keyword arguments become an object. Anything else makes the whole text not a `repr`.

use serde_json::{Map, Number, Value};

/// Nesting below which a text is not a `repr` any more but an attack on the stack.
const MAX_DEPTH: usize = 64;

/// The value of a `repr` of a container, or `None` when the text is not one.
pub(crate) fn parse(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[', '(']) {
        return None;
    }
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip_space();
    let container = matches!(value, Value::Object(_) | Value::Array(_));
    (reader.rest.is_empty() && container).then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest.chars().next()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.braces(depth),
            '[' => {
                self.eat("[");
                self.items("]", depth).map(Value::Array)
            }
            '(' => {
                self.eat("(");
                self.items(")", depth).map(Value::Array)
            }
            '\'' | '"' => self.string().map(Value::String),
            '-' | '+' | '.' | '0'..='9' => self.number(),
            first if first.is_alphabetic() || first == '_' => self.name(depth),
            _ => None,
        }
    }

    /// A dictionary or a set.
    fn braces(&mut self, depth: usize) -> Option<Value> {
        self.eat("{");
        if self.eat("}") {
            return Some(Value::Object(Map::new()));
        }
        let first = self.value(depth + 1)?;
        if !self.eat(":") {
            let mut items = vec![first];
            while !self.eat("}") {
                if !self.eat(",") {
                    return None;
                }
                if self.eat("}") {
                    break;
                }
                items.push(self.value(depth + 1)?);
            }
            return Some(Value::Array(items));
        }
        let mut map = Map::new();
        map.insert(key(first), self.value(depth + 1)?);
        while !self.eat("}") {
            if !self.eat(",") {
                return None;
            }
            if self.eat("}") {
                break;
            }
            let next = self.value(depth + 1)?;
            if !self.eat(":") {
                return None;
            }
            map.insert(key(next), self.value(depth + 1)?);
        }
        Some(Value::Object(map))
    }

    fn items(&mut self, end: &str, depth: usize) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.value(depth + 1)?);
            if !self.eat(",") {
                return self.eat(end).then_some(items);
            }
        }
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let mut out = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            if character == quote {
                self.rest = &self.rest[at + quote.len_utf8()..];
                // Adjacent literals are one string, as in long lines that Python wrapped.
                if matches!(self.peek(), Some('\'' | '"')) {
                    out.push_str(&self.string()?);
                }
                return Some(out);
            }
            if character != '\\' {
                out.push(character);
                continue;
            }
            let (_, escaped) = characters.next()?;
            let mut hex = |digits: usize| {
                let mut code = 0;
                for _ in 0..digits {
                    code = code * 16 + characters.next()?.1.to_digit(16)?;
                }
                Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            };
            let character = match escaped {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'x' => hex(2)?,
                'u' => hex(4)?,
                'U' => hex(8)?,
                '\\' | '\'' | '"' => escaped,
                other => {
                    out.push('\\');
                    other
                }
            };
            out.push(character);
        }
        None
    }

    fn number(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E' | '_')))
            .unwrap_or(self.rest.len());
        let (literal, rest) = self.rest.split_at(end);
        if let Some(after) = rest.strip_prefix("inf") {
            self.rest = after;
            return Some(Value::Null);
        }
        self.rest = rest;
        let digits = literal.replace('_', "");
        if let Ok(whole) = digits.parse::<i64>() {
            return Some(Value::from(whole));
        }
        let value = digits.parse::<f64>().ok()?;
        let whole = !digits.contains(['.', 'e', 'E']);
        Some(match Number::from_f64(value) {
            // More digits than a number holds: the text keeps them all.
            Some(number) if !whole => Value::Number(number),
            _ => Value::String(digits),
        })
    }

    /// A constant, or a constructor call.
    fn name(&mut self, depth: usize) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let prefixed = rest.starts_with(['\'', '"']) && matches!(name, "b" | "u" | "r");
        self.rest = rest;
        if prefixed {
            return self.string().map(Value::String);
        }
        match name {
            "None" | "nan" | "inf" => return Some(Value::Null),
            "True" => return Some(Value::Bool(true)),
            "False" => return Some(Value::Bool(false)),
            _ => {}
        }
        if !self.eat("(") {
            return None;
        }
        let mut keywords = Map::new();
        let mut positional = Vec::new();
        while !self.eat(")") {
            self.skip_space();
            let end = self
                .rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
            let (word, rest) = self.rest.split_at(end);
            if !word.is_empty() && rest.starts_with('=') {
                let word = word.to_owned();
                self.rest = &rest[1..];
                keywords.insert(word, self.value(depth + 1)?);
            } else {
                positional.push(self.value(depth + 1)?);
            }
            if !self.eat(",") && !self.rest.trim_start().starts_with(')') {
                return None;
            }
        }
        Some(if positional.is_empty() {
            Value::Object(keywords)
        } else {
            Value::Array(positional)
        })
    }
}

fn key(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_python_prints() {
        let check = |text: &str, value: Value| assert_eq!(parse(text), Some(value), "{text}");
        check("{'query': 'example'}", json!({"query": "example"}));
        check(
            "{'q': \"it's\", 'n': None, 'ok': True, 'no': False}",
            json!({"q": "it's", "n": null, "ok": true, "no": false}),
        );
        check(
            r"{'t': 'a\n\'b\' \\ \x41\u00e9\U0001f600\d'}",
            json!({"t": "a\n'b' \\ Aé😀\\d"}),
        );
        check(
            "[1, -2.5, 1e3, (3,), {4, 5}, {}, []]",
            json!([1, -2.5, 1000.0, [3], [4, 5], {}, []]),
        );
        check("{1: 'a', (1, 2): 'b'}", json!({"1": "a", "[1,2]": "b"}));
        check(
            "[Message(role='user', content='hi'), datetime.datetime(2025, 1, 2)]",
            json!([{"role": "user", "content": "hi"}, [2025, 1, 2]]),
        );
        check(
            "{'a': nan, 'b': -inf, 'c': b'x'}",
            json!({"a": null, "b": null, "c": "x"}),
        );
        check("['one ' 'two']", json!(["one two"]));
        check(
            "{'id': 123456789012345678901234567890}",
            json!({"id": "123456789012345678901234567890"}),
        );
    }

    #[test]
    fn refuses_what_is_not_one() {
        for text in [
            "",
            "plain",
            "'string'",
            "{'a': }",
            "{'a': 1",
            "{'a' 1}",
            "{'a': 1} trailing",
            "{'a': <object at 0x1>}",
            "[1 2]",
            "{'a': 'open}",
            "{'a': '\\",
            "{'a': '\\x4",
            "(",
            "f(",
            "[f(x",
            "[f(a=]",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
