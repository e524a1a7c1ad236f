//! Tables: made once, shown in the terminal, in Markdown and on the page.

use std::fmt::Write as _;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{LineStyle, Table, TableStyle};

use crate::figures::one_line;

/// Lines above, below and under the header; rows stand close together.
const STYLE: TableStyle = UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none());

/// What stands in a cell without a value.
pub(crate) const NOTHING: &str = "-";

/// A header and rows of as many cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(header: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        Self {
            header: header.to_vec(),
            rows,
        }
    }

    /// Leaves out columns in which no row has a value.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        for column in (0..self.header.len()).rev() {
            let empty = self
                .rows
                .iter()
                .all(|row| row.get(column).is_none_or(|cell| cell == NOTHING));
            if empty && !self.rows.is_empty() {
                self.header.remove(column);
                for row in &mut self.rows {
                    if column < row.len() {
                        row.remove(column);
                    }
                }
            }
        }
        self
    }

    pub(crate) fn terminal(&self) -> String {
        let mut table = Table::new();
        table.load_style(STYLE);
        table.set_header(self.header.clone());
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| one_line(cell)).collect::<Vec<_>>());
        }
        table.trim_fmt()
    }

    pub(crate) fn markdown(&self) -> String {
        let mut out = format!(
            "| {} |\n|{}\n",
            self.header.join(" | "),
            "---|".repeat(self.header.len())
        );
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| markdown_text(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }
}

/// A text for a cell or a line of Markdown: nothing in it is markup.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '*' | '[' | ']' | '#' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let row = |a: &str, b: &str, c: &str| vec![a.to_owned(), b.to_owned(), c.to_owned()];
        Grid::new(
            &["a", "b", "c"],
            vec![row("1", "-", "x|y\u{1b}"), row("2", "-", "-")],
        )
    }

    #[test]
    fn columns_without_values_are_left_out() {
        assert_eq!(grid().without_empty_columns().header, ["a", "c"]);
        assert_eq!(
            Grid::new(&["a"], Vec::new()).without_empty_columns().header,
            ["a"]
        );
    }

    #[test]
    fn markdown_cannot_be_broken_out_of() {
        assert_eq!(
            markdown_text("a|b\n<img> [x](y) `z`"),
            "a\\|b\\\\n&lt;img&gt; \\[x\\](y) \\`z\\`"
        );
        let expected = "| a | b | c |\n|---|---|---|\n| 1 | - | x\\|y\\\\u{1b} |\n| 2 | - | - |\n";
        assert_eq!(grid().markdown(), expected);
    }

    #[test]
    fn the_terminal_gets_no_control_characters() {
        let shown = grid().terminal();
        assert!(
            !shown.contains('\u{1b}') && shown.contains("x|y\\u{1b}"),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), 6);
    }
}
