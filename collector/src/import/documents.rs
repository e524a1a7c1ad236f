//! Cutting a file into JSON documents, without holding more than one of them.
//!
//! Files come as one object per line, as one array, as pretty-printed objects one after another, and cut off
//! anywhere. Lines are cut at line ends, so that a broken one costs only itself; everything else is cut by
//! counting brackets outside strings.

use std::io::{self, BufRead, Read as _};

/// A piece of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The text of one document, and the line it starts on.
    Document { text: String, line: usize },
    /// Something that cannot be read.
    Rejected { line: usize, reason: String },
}

/// How a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Nothing in it.
    Empty,
    /// One document per line.
    Lines,
    /// Documents inside an array or one after another.
    Stream,
}

/// A first line longer than this is not looked at whole to tell the layout.
const FIRST_LINE: usize = 1 << 20;

/// Cuts `reader` into documents of at most `limit` bytes.
pub(crate) fn cut(
    mut reader: impl BufRead,
    limit: usize,
    each: &mut dyn FnMut(Piece),
) -> io::Result<Layout> {
    skip_mark(&mut reader)?;
    let mut line = 1;
    match first_byte(&mut reader, &mut line)? {
        None => return Ok(Layout::Empty),
        Some(b'[') => {
            Stream::new(limit, line).run(&mut reader, each)?;
            return Ok(Layout::Stream);
        }
        // A bad first line costs itself, like any other.
        Some(_) => {}
    }
    let mut first = Vec::new();
    (&mut reader)
        .take(FIRST_LINE as u64)
        .read_until(b'\n', &mut first)?;
    let mut reader = io::Cursor::new(first.clone()).chain(reader);
    if opens_a_block(&first) {
        Stream::new(limit, line).run(&mut reader, each)?;
        return Ok(Layout::Stream);
    }
    lines(&mut reader, limit, line, each)?;
    Ok(Layout::Lines)
}

/// Pretty-printed objects end their first line in the middle of things.
fn opens_a_block(line: &[u8]) -> bool {
    line.ends_with(b"\n")
        && matches!(
            line.trim_ascii_end().last(),
            Some(b'{' | b'[' | b',' | b':')
        )
}

fn skip_mark(reader: &mut impl BufRead) -> io::Result<()> {
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(())
}

fn first_byte(reader: &mut impl BufRead, line: &mut usize) -> io::Result<Option<u8>> {
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        if let Some(at) = buffer.iter().position(|byte| !byte.is_ascii_whitespace()) {
            let found = buffer[at];
            *line += count_lines(&buffer[..at]);
            reader.consume(at);
            return Ok(Some(found));
        }
        let length = buffer.len();
        *line += count_lines(buffer);
        reader.consume(length);
    }
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

fn piece(bytes: Vec<u8>, line: usize) -> Piece {
    match String::from_utf8(bytes) {
        Ok(text) => Piece::Document { text, line },
        Err(_) => Piece::Rejected {
            line,
            reason: "not UTF-8".to_owned(),
        },
    }
}

fn too_large(line: usize, limit: usize) -> Piece {
    let megabytes = limit >> 20;
    let reason = format!(
        "larger than {megabytes} MiB: export the observations as JSONL, which is read row by row"
    );
    Piece::Rejected { line, reason }
}

fn lines(
    reader: &mut impl BufRead,
    limit: usize,
    mut line: usize,
    each: &mut dyn FnMut(Piece),
) -> io::Result<()> {
    loop {
        let mut bytes = Vec::new();
        if reader
            .take(limit as u64 + 1)
            .read_until(b'\n', &mut bytes)?
            == 0
        {
            return Ok(());
        }
        if bytes.len() > limit && !bytes.ends_with(b"\n") {
            each(too_large(line, limit));
            skip_line(reader)?;
        } else if !bytes.trim_ascii().is_empty() {
            each(piece(bytes.trim_ascii().to_vec(), line));
        }
        line += 1;
    }
}

fn skip_line(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = reader.fill_buf()?;
        let (length, found) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(length);
        if found {
            return Ok(());
        }
    }
}

/// Cuts by counting brackets.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent facts that a byte is read against"
)]
struct Stream {
    limit: usize,
    line: usize,
    /// Bytes of the document being read; none while between documents or past the limit.
    bytes: Vec<u8>,
    started: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_word: bool,
    too_large: bool,
    /// Whether the outermost array has been entered and not left.
    in_array: bool,
}

impl Stream {
    fn new(limit: usize, line: usize) -> Self {
        Self {
            limit,
            line,
            bytes: Vec::new(),
            started: line,
            depth: 0,
            in_string: false,
            escaped: false,
            in_word: false,
            too_large: false,
            in_array: false,
        }
    }

    fn run(mut self, reader: &mut impl BufRead, each: &mut dyn FnMut(Piece)) -> io::Result<()> {
        loop {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            for byte in buffer {
                self.byte(*byte, each);
                self.line += usize::from(*byte == b'\n');
            }
            let length = buffer.len();
            reader.consume(length);
        }
        if self.in_word && self.depth == 0 {
            self.finish(each);
        } else if self.depth > 0 || self.in_string || self.in_array {
            let reason = "the file is cut off here; the rows before are kept".to_owned();
            let line = if self.depth > 0 {
                self.started
            } else {
                self.line
            };
            each(Piece::Rejected { line, reason });
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8, each: &mut dyn FnMut(Piece)) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    self.end_if_outermost(each);
                }
                _ => {}
            }
            return;
        }
        if self.depth == 0 && (byte.is_ascii_whitespace() || matches!(byte, b',' | b']')) {
            if self.in_word {
                self.finish(each);
            }
            if byte == b']' {
                self.in_array = false;
            }
            return;
        }
        if self.depth == 0 && !self.in_word {
            self.started = self.line;
        }
        match byte {
            b'[' if self.depth == 0 && !self.in_array && !self.in_word => {
                self.in_array = true;
                return;
            }
            b'{' | b'[' => self.depth += 1,
            b'"' => self.in_string = true,
            _ => {}
        }
        self.keep(byte);
        match byte {
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.end_if_outermost(each);
            }
            _ if self.depth == 0 && !self.in_string => self.in_word = true,
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.bytes.len() >= self.limit {
            self.too_large = true;
            self.bytes.clear();
        }
        if !self.too_large {
            self.bytes.push(byte);
        }
    }

    fn end_if_outermost(&mut self, each: &mut dyn FnMut(Piece)) {
        if self.depth == 0 {
            self.finish(each);
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(Piece)) {
        let bytes = std::mem::take(&mut self.bytes);
        if self.too_large {
            each(too_large(self.started, self.limit));
        } else if !bytes.is_empty() {
            each(piece(bytes, self.started));
        }
        self.too_large = false;
        self.in_word = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &[u8], limit: usize) -> (Layout, Vec<String>) {
        let mut found = Vec::new();
        // A small buffer, so that pieces cross its ends.
        let reader = io::BufReader::with_capacity(3, text);
        let layout = cut(reader, limit, &mut |piece| {
            found.push(match piece {
                Piece::Document { text, line } => format!("{line}:{text}"),
                Piece::Rejected { line, reason } => format!("{line}!{reason}"),
            });
        })
        .unwrap();
        (layout, found)
    }

    fn check(text: &str, layout: Layout, pieces: &[&str]) {
        let (found_layout, found) = run(text.as_bytes(), 1 << 20);
        assert_eq!(
            (found_layout, found),
            (layout, pieces.iter().map(ToString::to_string).collect()),
            "{text}"
        );
    }

    #[test]
    fn lines_stand_alone() {
        check("", Layout::Empty, &[]);
        check("\u{feff} \n\n", Layout::Empty, &[]);
        check(
            "{\"a\":1}\r\n\n{\"a\":\n{\"a\":3}",
            Layout::Lines,
            &["1:{\"a\":1}", "3:{\"a\":", "4:{\"a\":3}"],
        );
        check(
            "\u{feff}\n{\"a\":\"}{\"}",
            Layout::Lines,
            &["2:{\"a\":\"}{\"}"],
        );
    }

    #[test]
    fn arrays_and_blocks_are_cut_by_brackets() {
        check("[]", Layout::Stream, &[]);
        check(
            "[{\"a\":\"]}\\\"\"},\n [1] , {}]",
            Layout::Stream,
            &["1:{\"a\":\"]}\\\"\"}", "2:[1]", "2:{}"],
        );
        check(
            "{\n \"a\": [1,\n2]\n}\n{\n}\n",
            Layout::Stream,
            &["1:{\n \"a\": [1,\n2]\n}", "5:{\n}"],
        );
        check("[{}][{\"b\":1}]", Layout::Stream, &["1:{}", "1:{\"b\":1}"]);
    }

    #[test]
    fn a_cut_file_keeps_its_complete_rows() {
        check(
            "[{\"a\":1},\n{\"a\":2},\n{\"a\":",
            Layout::Stream,
            &[
                "1:{\"a\":1}",
                "2:{\"a\":2}",
                "3!the file is cut off here; the rows before are kept",
            ],
        );
        check(
            "[{\"a\":1},",
            Layout::Stream,
            &[
                "1:{\"a\":1}",
                "1!the file is cut off here; the rows before are kept",
            ],
        );
    }

    #[test]
    fn odd_bytes_are_rejected_one_by_one() {
        check("id,name\n{}", Layout::Lines, &["1:id,name", "2:{}"]);
        check(
            "[oops {\"a\":1}, 2]",
            Layout::Stream,
            &["1:oops", "1:{\"a\":1}", "1:2"],
        );
        let (_, found) = run(b"{\"a\":\"\xff\"}\n{}", 1 << 20);
        assert_eq!(found, ["1!not UTF-8", "2:{}"]);
    }

    #[test]
    fn large_documents_are_passed_over() {
        let big = format!("{{\"a\":\"{}\"}}", "x".repeat(3 << 20));
        let (_, found) = run(format!("{{}}\n{big}\n{{}}").as_bytes(), 1 << 20);
        assert_eq!(
            (found.len(), found[0].as_str(), found[2].as_str()),
            (3, "1:{}", "3:{}")
        );
        assert!(found[1].starts_with("2!larger than 1 MiB"), "{}", found[1]);
        let (_, found) = run(format!("[{big},{{}}]").as_bytes(), 1 << 20);
        assert_eq!((found.len(), found[1].as_str()), (2, "1:{}"));
        assert!(found[0].starts_with("1!larger than 1 MiB"));
    }
}
