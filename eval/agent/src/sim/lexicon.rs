//! Plain reading of short texts: sentences, clauses, and whether a word in them is negated.
//!
//! This is no understanding of language. It is enough to recognise that a sentence states a fact in one of
//! many wordings, and not to take a plain denial of the fact for the fact.

/// Words or phrases that stand for one idea. A trailing `*` means "and all words that begin so"; in a
/// phrase, ` $` is the end of a clause.
pub(super) type Concept = &'static [&'static str];

/// What a pattern asks of a concept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Term {
    /// It is said, and not negated.
    Has(Concept),
    /// It is said, and negated.
    Not(Concept),
    /// It is said, either way.
    Any(Concept),
    /// It is not said.
    Lacks(Concept),
}

/// How far the terms of a pattern may be apart.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pattern {
    Clause(&'static [Term]),
    Sentence(&'static [Term]),
}

/// A negation reaches this many words ahead, and never beyond its clause.
const REACH: usize = 8;

/// `without` negates the thing it names and not the rest of the clause.
const REACH_OF_WITHOUT: usize = 3;

/// Whoever denies a whole sentence begins it so, or ends it so.
const DENIALS: Concept = &[
    "not true",
    "isn't true",
    "untrue",
    "false that",
    "is false",
    "not the case",
    "isn't the case",
    "no longer",
    "whether",
    "inside or outside",
    "outside or inside",
    "does not mean",
    "doesn't mean",
    "a myth",
];

/// One clause as words in lower case.
type Clause = Vec<String>;

/// A text, read.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    sentences: Vec<Vec<Clause>>,
}

impl Reading {
    pub(super) fn of(text: &str) -> Self {
        let mut reading = Self::default();
        reading.add(text);
        reading
    }

    /// Reads on; a text never continues the last sentence of the one before.
    pub(super) fn add(&mut self, text: &str) {
        for sentence in split_sentences(text) {
            let clauses = split_clauses(&sentence);
            if !clauses.is_empty() {
                self.sentences.push(clauses);
            }
        }
    }

    /// Whether any sentence matches any of the patterns.
    pub(super) fn states(&self, patterns: &[Pattern]) -> bool {
        self.sentences
            .iter()
            .any(|sentence| patterns.iter().any(|pattern| matches(sentence, pattern)))
    }

    /// The sentences that match any of the patterns, as words.
    pub(super) fn matching<'a>(
        &'a self,
        patterns: &'a [Pattern],
    ) -> impl Iterator<Item = Vec<&'a str>> {
        self.sentences
            .iter()
            .filter(|sentence| patterns.iter().any(|pattern| matches(sentence, pattern)))
            .map(|sentence| sentence.iter().flatten().map(String::as_str).collect())
    }
}

fn matches(sentence: &[Clause], pattern: &Pattern) -> bool {
    let clause_says = |clause: &Clause| !places(clause, DENIALS).is_empty();
    if sentence.iter().any(clause_says) {
        return false;
    }
    match pattern {
        Pattern::Sentence(terms) => terms.iter().all(|term| holds(sentence, term)),
        Pattern::Clause(terms) => sentence.iter().any(|clause| {
            terms
                .iter()
                .all(|term| holds(std::slice::from_ref(clause), term))
        }),
    }
}

fn holds(clauses: &[Clause], term: &Term) -> bool {
    let found = |concept: Concept, wanted: Option<bool>| {
        clauses.iter().any(|clause| {
            places(clause, concept)
                .into_iter()
                .any(|at| wanted.is_none_or(|negated| is_negated(clause, at) == negated))
        })
    };
    match term {
        Term::Has(concept) => found(concept, Some(false)),
        Term::Not(concept) => found(concept, Some(true)),
        Term::Any(concept) => found(concept, None),
        Term::Lacks(concept) => !found(concept, None),
    }
}

/// Where a concept begins in a clause.
fn places(clause: &[String], concept: Concept) -> Vec<usize> {
    (0..clause.len())
        .filter(|at| concept.iter().any(|phrase| phrase_at(clause, *at, phrase)))
        .collect()
}

fn phrase_at(clause: &[String], at: usize, phrase: &str) -> bool {
    phrase
        .split(' ')
        .enumerate()
        .all(|(offset, wanted)| match clause.get(at + offset) {
            None => wanted == "$",
            Some(word) => match wanted.strip_suffix('*') {
                // The names of tools are words of their own: `reject_proposal` says nothing about rejecting.
                Some(stem) => word.starts_with(stem) && !word.contains('_'),
                None => word == wanted,
            },
        })
}

/// An odd number of negations before the word, in its clause and near enough.
fn is_negated(clause: &[String], at: usize) -> bool {
    let from = at.saturating_sub(REACH);
    let before = clause.get(from..at).unwrap_or_default();
    let negations = before.iter().enumerate().filter(|(offset, word)| {
        let next = clause.get(from + offset + 1).map(String::as_str);
        let reaches = word.as_str() != "without" || at - (from + offset) <= REACH_OF_WITHOUT;
        reaches && is_negation(word, next)
    });
    negations.count() % 2 == 1
}

fn is_negation(word: &str, next: Option<&str>) -> bool {
    match word {
        "not" => next != Some("only"),
        "instead" => next == Some("of"),
        "rather" => next == Some("than"),
        "no" | "never" | "cannot" | "without" | "neither" | "nor" | "none" | "nothing"
        | "nobody" | "avoid" | "avoids" | "avoiding" => true,
        _ => word.ends_with("n't"),
    }
}

/// Splits at full stops, question and exclamation marks, semicolons and line breaks, but not inside numbers
/// or the usual abbreviations.
fn split_sentences(text: &str) -> Vec<String> {
    let text = text
        .to_lowercase()
        .replace('\u{2019}', "'")
        .replace("e.g.", "eg")
        .replace("i.e.", "ie");
    let characters: Vec<char> = text.chars().collect();
    let mut sentences = vec![String::new()];
    for (index, c) in characters.iter().enumerate() {
        let digit = |offset: Option<usize>| {
            offset
                .and_then(|at| characters.get(at))
                .is_some_and(char::is_ascii_digit)
        };
        let inside_number = *c == '.' && digit(index.checked_sub(1)) && digit(Some(index + 1));
        if matches!(c, '.' | '!' | '?' | ';' | '\n') && !inside_number {
            sentences.push(String::new());
        } else if let Some(last) = sentences.last_mut() {
            last.push(*c);
        }
    }
    sentences
}

/// Splits at commas, colons, brackets, dashes, and the words that join clauses.
fn split_clauses(sentence: &str) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    let characters: Vec<char> = sentence.chars().collect();
    let digit = |at: Option<usize>| {
        at.and_then(|at| characters.get(at))
            .is_some_and(char::is_ascii_digit)
    };
    let marked: String = characters
        .iter()
        .enumerate()
        .map(|(index, c)| match c {
            // A thousands separator is part of its number.
            ',' if digit(index.checked_sub(1)) && digit(Some(index + 1)) => '_',
            ',' | ':' | '(' | ')' | '[' | ']' | '|' | '\u{2013}' | '\u{2014}' => '|',
            c if c.is_alphanumeric() || matches!(c, '\'' | '_' | '.') => *c,
            _ => ' ',
        })
        .collect();
    for piece in marked.split('|') {
        clauses.push(Vec::new());
        for word in piece.split_whitespace() {
            let word = word.trim_matches(['\'', '.', '_']);
            let word = word.strip_suffix("'s").unwrap_or(word);
            if word.is_empty() {
                continue;
            }
            if matches!(word, "and" | "but" | "or" | "so" | "then" | "because") {
                clauses.push(Vec::new());
            }
            // `or` and the like stay as the first word of their clause, where they mean nothing.
            if let Some(last) = clauses.last_mut() {
                last.push(word.to_owned());
            }
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOVE: Concept = &["move", "moves"];
    const COST: Concept = &["cost*", "use", "uses"];

    fn check(text: &str, patterns: &[Pattern], expected: bool) {
        assert_eq!(Reading::of(text).states(patterns), expected, "{text}");
    }

    #[test]
    fn negation_stays_in_its_clause() {
        let costs = [Pattern::Clause(&[Term::Has(COST), Term::Has(MOVE)])];
        check("It costs a move.", &costs, true);
        check("It costs no move.", &costs, false);
        check("It does not use a move.", &costs, false);
        check(
            "Reading tells you nothing new, it uses a move.",
            &costs,
            true,
        );
        check("It never fails and costs a move.", &costs, true);
        check("It is not true that it costs a move.", &costs, false);
        check("Not only does it cost a move.", &costs, true);
        check("Costs. A move.", &costs, false);
        let free = [Pattern::Clause(&[Term::Has(COST), Term::Not(MOVE)])];
        check("It costs no move.", &free, true);
        check("It is not the case that it costs no move.", &free, false);
    }

    #[test]
    fn numbers_stay_whole() {
        let reading = Reading::of("raised to 1,250.50 now. The end");
        assert_eq!(reading.sentences.len(), 2);
        assert_eq!(reading.sentences[0][0], ["raised", "to", "1_250.50", "now"]);
    }

    #[test]
    fn tool_names_are_not_words() {
        let reject = [Pattern::Clause(&[Term::Any(&["reject*"])])];
        check("Use reject_proposal.", &reject, false);
        check("Rejecting is possible.", &reject, true);
    }

    #[test]
    fn the_end_of_a_clause_can_be_asked_for() {
        let once = [Pattern::Clause(&[Term::Any(&["once $"])])];
        check("Call it once, then move.", &once, true);
        check("Once it is closed, moves fail.", &once, false);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in any::<String>()) {
            let _ = Reading::of(&text).states(&[Pattern::Sentence(&[Term::Any(MOVE)])]);
        }
    }
}
