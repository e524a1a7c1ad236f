//! What the simulated agent knows about the tools: the facts that the served texts state, and nothing else.

use trajectory::Toolset;

use super::lexicon::Pattern::{Clause, Sentence};
use super::lexicon::Term::{Any, Has, Lacks, Not};
use super::lexicon::{Concept, Pattern, Reading};
use crate::model::ToolSpec;

/// A fact about one of the market's tools that an agent does better to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// `get_negotiation`: reading uses no move, and once is enough.
    ReadingIsFree,
    /// `propose`: the way to counter, a price the other side can accept.
    ProposeCounters,
    /// `propose`: the price has to be inside one's own limit.
    ProposeInsideLimit,
    /// `propose`: the price is a whole number.
    PriceIsWhole,
    /// `accept_proposal`: closes at the counterpart's latest price; right when that price is acceptable.
    AcceptCloses,
    /// `accept_proposal`: needs a price of the counterpart, one's own cannot be accepted.
    AcceptNeedsTheirPrice,
    /// `accept_proposal`: only inside one's own limit.
    AcceptInsideLimit,
    /// `reject_proposal`: carries no price and uses up a move.
    RejectBurnsAMove,
    /// `refuse`: the right end when no price inside the limit can be reached.
    RefuseIsAnEnd,
}

impl Fact {
    /// All facts.
    pub const ALL: [Self; 9] = [
        Self::ReadingIsFree,
        Self::ProposeCounters,
        Self::ProposeInsideLimit,
        Self::PriceIsWhole,
        Self::AcceptCloses,
        Self::AcceptNeedsTheirPrice,
        Self::AcceptInsideLimit,
        Self::RejectBurnsAMove,
        Self::RefuseIsAnEnd,
    ];

    /// The tool whose texts (parameters included) can state the fact.
    pub fn tool(self) -> &'static str {
        match self {
            Self::ReadingIsFree => "get_negotiation",
            Self::ProposeCounters | Self::ProposeInsideLimit | Self::PriceIsWhole => "propose",
            Self::AcceptCloses | Self::AcceptNeedsTheirPrice | Self::AcceptInsideLimit => {
                "accept_proposal"
            }
            Self::RejectBurnsAMove => "reject_proposal",
            Self::RefuseIsAnEnd => "refuse",
        }
    }

    /// Whether `text` states the fact, taken as a text of [`Fact::tool`].
    pub fn is_stated_in(self, text: &str) -> bool {
        Reading::of(text).states(self.patterns())
    }

    fn patterns(self) -> &'static [Pattern] {
        match self {
            Self::ReadingIsFree => READING_IS_FREE,
            Self::ProposeCounters => PROPOSE_COUNTERS,
            Self::ProposeInsideLimit => PROPOSE_INSIDE_LIMIT,
            Self::PriceIsWhole => PRICE_IS_WHOLE,
            Self::AcceptCloses => ACCEPT_CLOSES,
            Self::AcceptNeedsTheirPrice => ACCEPT_NEEDS_THEIR_PRICE,
            Self::AcceptInsideLimit => ACCEPT_INSIDE_LIMIT,
            Self::RejectBurnsAMove => REJECT_BURNS_A_MOVE,
            Self::RefuseIsAnEnd => REFUSE_IS_AN_END,
        }
    }
}

/// The facts a tool list states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    stated: [bool; Fact::ALL.len()],
}

impl Facts {
    /// Reads the texts of the tools.
    pub fn of(tools: &[ToolSpec]) -> Self {
        let mut facts = Self::default();
        for tool in tools {
            let mut reading = Reading::of(tool.description());
            let schema = tool.input_schema();
            let properties = schema
                .get("properties")
                .and_then(serde_json::Value::as_object);
            for property in properties.into_iter().flat_map(serde_json::Map::values) {
                reading.add(
                    property
                        .get("description")
                        .and_then(serde_json::Value::as_str)
                        .unwrap_or_default(),
                );
            }
            for fact in Fact::ALL
                .into_iter()
                .filter(|fact| fact.tool() == tool.name())
            {
                facts.stated[fact as usize] |= reading.states(fact.patterns());
            }
        }
        facts
    }

    /// As [`Facts::of`], for a toolset version.
    pub fn of_toolset(toolset: &Toolset) -> Self {
        Self::of(&ToolSpec::list(toolset))
    }

    /// Whether the fact is stated.
    pub fn has(&self, fact: Fact) -> bool {
        self.stated[fact as usize]
    }

    /// The facts that are stated.
    pub fn stated(&self) -> Vec<Fact> {
        Fact::ALL
            .into_iter()
            .filter(|fact| self.has(*fact))
            .collect()
    }
}

const MOVE: Concept = &["move", "moves", "turn", "turns"];
const COST: Concept = &[
    "use", "uses", "used", "using", "cost*", "spend*", "spent", "consum*", "count", "counts",
    "counted", "take", "takes", "taken", "burn*", "lose", "loses", "wast*",
];
const END: Concept = &[
    "end", "ends", "ending", "ended", "finish*", "clos*", "pass", "passes", "over",
];
const KEEP: Concept = &[
    "keep", "keeps", "leave*", "stay*", "remain*", "still", "continu*", "retain*",
];
const READ: Concept = &[
    "read", "reads", "reading", "look*", "check*", "view*", "call", "calls", "calling", "fetch*",
    "this",
];
const FREE: Concept = &["free", "no cost", "without cost", "no charge"];
const FREE_TEXT: Concept = &["free text", "free form"];
const ONCE: Concept = &[
    "once $",
    "once per",
    "once a",
    "once each",
    "once every",
    "once in",
    "once before",
    "once at",
    "once is",
    "one call",
    "one read",
    "one look",
    "single call",
    "single read",
    "one time",
];
const ACT: Concept = &[
    "then", "move", "moves", "act", "turn", "turns", "enough", "suffic*", "decid*", "before",
];
const REPEAT: Concept = &[
    "poll*",
    "repeat*",
    "again",
    "twice",
    "more than once",
    "many times",
    "several times",
];
const NOTHING_NEW: Concept = &[
    "nothing new",
    "no new",
    "changes nothing",
    "nothing changes",
    "not change",
    "same",
];

const PRICE: Concept = &[
    "price",
    "prices",
    "offer",
    "offers",
    "amount*",
    "figure*",
    "proposal",
    "proposals",
    "number",
];
const COUNTER: Concept = &[
    "counter",
    "counters",
    "countering",
    "countered",
    "counteroffer*",
    "counterpropos*",
    "counterbid*",
];
const ANSWER: Concept = &[
    "answer*",
    "reply",
    "replies",
    "replying",
    "respond*",
    "response*",
];
const CAN_ACCEPT: Concept = &[
    "can accept",
    "may accept",
    "could accept",
    "can be accepted",
    "may be accepted",
    "could be accepted",
    "able to accept",
    "can then accept",
    "can only accept",
    "can agree",
    "can take",
    "to accept $",
    "can say yes",
];
const REJECT_INSTEAD: Concept = &[
    "instead of reject*",
    "rather than reject*",
    "instead of declin*",
];
const COUNTERPART: Concept = &[
    "counterpart",
    "counterpart*",
    "other side",
    "other party",
    "opponent",
    "opponent*",
    "their",
    "they",
    "them",
    "partner",
];

const LIMIT: Concept = &[
    "limit",
    "limits",
    "budget",
    "reserve",
    "ceiling",
    "floor",
    "maximum",
    "minimum",
    "walk away price",
    "bounds",
    "may pay",
    "can pay",
    "afford",
];
/// Limits that are not the party's own price limit.
const OTHER_LIMIT: Concept = &[
    "counterpart limit*",
    "side limit*",
    "party limit*",
    "their limit*",
    "opponent limit*",
    "move limit*",
    "time limit*",
    "character*",
    "length",
    "size",
    "bytes",
    "rate limit*",
];
const INSIDE: Concept = &[
    "inside",
    "within",
    "up to",
    "at most",
    "respect*",
    "no more than",
    "keep to",
    "keeps to",
    "stay* below",
    "observ*",
];
const OUTSIDE: Concept = &[
    "outside",
    "beyond",
    "over",
    "above",
    "exceed*",
    "past",
    "violat*",
    "break*",
    "worse than",
    "below",
    "under",
    "overstep*",
];
const REFUSED: Concept = &[
    "refused",
    "rejected",
    "declined",
    "invalid",
    "forbidden",
    "prohibited",
    "fail*",
    "error*",
    "disallowed",
    "turned down",
    "sent back",
];
const NOT_REFUSED: Concept = &[
    "not refused",
    "not rejected",
    "not declined",
    "never refused",
    "n't refused",
    "isn't refused",
    "aren't refused",
];
const ALLOWED: Concept = &[
    "allow*", "permit*", "accepted", "valid", "possible", "taken", "made", "executed", "through",
    "count", "counts",
];
const NOT_REQUIRED: Concept = &[
    "not required",
    "not needed",
    "not necessary",
    "isn't required",
    "isn't needed",
    "unnecessary",
    "optional",
    "need not",
    "needn't",
    "no need",
    "not have to",
    "n't have to",
    "don't have to",
    "doesn't have to",
];

const WHOLE: Concept = &[
    "whole number*",
    "whole amount*",
    "whole price*",
    "whole unit*",
    "whole currency",
    "whole dollar*",
    "whole euro*",
    "integer",
    "integers",
    "integral",
    "round number*",
];
const DECIMAL: Concept = &["decimal*", "fraction*", "cents"];

const CLOSE: Concept = &[
    "clos*", "settl*", "conclud*", "agree", "agrees", "agreeing", "seal*", "deal", "bind*",
];
const LATEST: Concept = &[
    "latest", "last", "current", "standing", "newest", "recent", "price", "offer", "proposal",
    "figure",
];
const WHEN: Concept = &[
    "when",
    "whenever",
    "if",
    "once",
    "as soon as",
    "where",
    "in case",
    "the moment",
    "for a price",
    "because",
];
const ACCEPTABLE: Concept = &[
    "acceptable",
    "suits",
    "suit",
    "good enough",
    "fine with you",
    "happy with",
    "satisf*",
    "live with",
    "agreeable",
    "works for you",
];
const PROHIBIT: Concept = &[
    "do not use",
    "don't use",
    "never use",
    "do not call",
    "don't call",
    "never call",
    "avoid using",
    "avoid this",
    "not be used",
    "cannot be used",
    "can't be used",
    "not the way",
    "not the right",
    "not a right",
    "not the correct",
    "wrong",
];

const OWN_PRICE: Concept = &[
    "own price*",
    "own offer*",
    "own proposal*",
    "own last",
    "own latest",
    "own standing",
    "your own $",
    "price you named",
    "price you proposed",
    "offer you made",
    "price of your own",
    "itself proposed",
];
const ACCEPT: Concept = &["accept*", "agree*", "take", "taken"];
const REQUIRE: Concept = &[
    "need",
    "needs",
    "needed",
    "requir*",
    "only",
    "must",
    "until",
    "unless",
    "after",
    "as soon as",
    "once",
    "first",
    "before",
    "has to",
    "have to",
    "provided",
];
const NAMED: Concept = &[
    "name",
    "named",
    "names",
    "made",
    "proposed",
    "offered",
    "stated",
    "put",
    "on the table",
    "stand",
    "stands",
    "standing",
    "given",
    "exist*",
];

const CARRY: Concept = &[
    "carr*", "name", "names", "naming", "contain*", "includ*", "send*", "give*", "giving", "tell*",
    "say*", "convey*", "propose*", "offers", "offering", "state*", "set", "sets", "suggest*",
    "hold", "holds", "mention*",
];
const WITHOUT_PRICE: Concept = &[
    "without a price",
    "without price",
    "without any price",
    "without a new price",
    "without an offer",
    "without naming",
];
const NOTHING_TO_REJECT: Concept = &[
    "nothing to reject",
    "nothing to decline",
    "nothing to turn down",
];

const BETTER: Concept = &[
    "better",
    "right",
    "correct*",
    "proper*",
    "preferable",
    "best",
    "good",
    "appropriate",
    "sensible",
    "fitting",
];
const BAD_ENDS: Concept = &[
    "run* out",
    "running out",
    "used up",
    "move limit",
    "open $",
    "cap",
    "no deal",
    "without a deal",
    "bad deal",
    "without agreement",
    "without an agreement",
    "no agreement",
    "keep* negotiating",
    "going on",
    "worse",
];
const DEAL: Concept = &[
    "deal",
    "deals",
    "agreement*",
    "price",
    "prices",
    "offer",
    "overlap",
    "settlement",
    "compromise",
];
const REACH: Concept = &[
    "reach*",
    "possib*",
    "found",
    "left",
    "achiev*",
    "come",
    "comes",
    "coming",
    "get",
    "within",
    "inside",
    "agree*",
    "acceptable",
];
const HOPELESS: Concept = &[
    "impossible",
    "unreachable",
    "hopeless",
    "out of reach",
    "stuck",
    "too far",
    "incompatible",
];

const READING_IS_FREE: &[Pattern] = &[
    Clause(&[Not(COST), Any(MOVE)]),
    Clause(&[Has(COST), Not(MOVE)]),
    Clause(&[Not(END), Any(MOVE)]),
    Clause(&[Has(KEEP), Has(&["turn", "turns"])]),
    Clause(&[Has(FREE), Any(READ), Lacks(FREE_TEXT)]),
    Sentence(&[Has(ONCE), Any(ACT)]),
    Clause(&[Not(REPEAT), Lacks(NOTHING_NEW)]),
    Sentence(&[Any(REPEAT), Any(NOTHING_NEW)]),
];

const PROPOSE_COUNTERS: &[Pattern] = &[
    Clause(&[Has(COUNTER), Lacks(PROHIBIT)]),
    Clause(&[Has(ANSWER), Has(PRICE), Lacks(PROHIBIT)]),
    Sentence(&[Has(PRICE), Has(CAN_ACCEPT)]),
    Clause(&[Any(REJECT_INSTEAD)]),
];

const PROPOSE_INSIDE_LIMIT: &[Pattern] = &[
    Clause(&[
        Has(INSIDE),
        Any(LIMIT),
        Lacks(OTHER_LIMIT),
        Lacks(NOT_REQUIRED),
    ]),
    Clause(&[Not(OUTSIDE), Any(LIMIT), Lacks(OTHER_LIMIT), Lacks(REFUSED)]),
    Sentence(&[Has(OUTSIDE), Any(LIMIT), Lacks(OTHER_LIMIT), Has(REFUSED)]),
    Sentence(&[Has(OUTSIDE), Any(LIMIT), Lacks(OTHER_LIMIT), Not(ALLOWED)]),
    Sentence(&[
        Not(INSIDE),
        Any(LIMIT),
        Lacks(OTHER_LIMIT),
        Any(REFUSED),
        Lacks(NOT_REFUSED),
    ]),
];

const PRICE_IS_WHOLE: &[Pattern] = &[
    Clause(&[Has(WHOLE), Lacks(NOT_REQUIRED)]),
    Clause(&[Not(DECIMAL)]),
    Sentence(&[Has(DECIMAL), Has(REFUSED)]),
    Sentence(&[Not(WHOLE), Any(REFUSED), Lacks(NOT_REFUSED)]),
];

const ACCEPT_CLOSES: &[Pattern] = &[
    Sentence(&[Has(CLOSE), Has(COUNTERPART), Has(LATEST), Lacks(PROHIBIT)]),
    Sentence(&[
        Has(WHEN),
        Has(INSIDE),
        Has(LIMIT),
        Lacks(OTHER_LIMIT),
        Lacks(PROHIBIT),
        Lacks(OUTSIDE),
    ]),
    Sentence(&[Has(WHEN), Has(ACCEPTABLE), Lacks(PROHIBIT)]),
];

const ACCEPT_NEEDS_THEIR_PRICE: &[Pattern] = &[
    Clause(&[Not(ACCEPT), Any(OWN_PRICE)]),
    Clause(&[Not(OWN_PRICE)]),
    Sentence(&[Has(OWN_PRICE), Has(REFUSED)]),
    Sentence(&[
        Has(REQUIRE),
        Has(COUNTERPART),
        Has(NAMED),
        Has(PRICE),
        Lacks(NOT_REQUIRED),
    ]),
    Sentence(&[Any(COUNTERPART), Not(NAMED), Not(ACCEPT)]),
    Sentence(&[Any(COUNTERPART), Not(PRICE), Not(ACCEPT)]),
    Sentence(&[Any(COUNTERPART), Not(NAMED), Has(REFUSED)]),
];

const ACCEPT_INSIDE_LIMIT: &[Pattern] = &[
    Sentence(&[
        Has(INSIDE),
        Any(LIMIT),
        Lacks(OTHER_LIMIT),
        Has(REQUIRE),
        Lacks(NOT_REQUIRED),
    ]),
    Clause(&[Not(OUTSIDE), Any(LIMIT), Lacks(OTHER_LIMIT), Lacks(REFUSED)]),
    Sentence(&[Has(OUTSIDE), Any(LIMIT), Lacks(OTHER_LIMIT), Has(REFUSED)]),
    Sentence(&[Has(OUTSIDE), Any(LIMIT), Lacks(OTHER_LIMIT), Not(ALLOWED)]),
    Sentence(&[
        Not(INSIDE),
        Any(LIMIT),
        Lacks(OTHER_LIMIT),
        Any(REFUSED),
        Lacks(NOT_REFUSED),
    ]),
];

const REJECT_BURNS_A_MOVE: &[Pattern] = &[
    Clause(&[Any(CARRY), Not(PRICE)]),
    Clause(&[Not(CARRY), Any(PRICE)]),
    Clause(&[Any(WITHOUT_PRICE)]),
    Clause(&[Has(COST), Has(MOVE)]),
    Sentence(&[
        Has(REQUIRE),
        Has(COUNTERPART),
        Has(NAMED),
        Has(PRICE),
        Lacks(NOT_REQUIRED),
    ]),
    Clause(&[Any(NOTHING_TO_REJECT)]),
];

const REFUSE_IS_AN_END: &[Pattern] = &[
    Sentence(&[Has(WHEN), Any(LIMIT), Not(DEAL), Lacks(PROHIBIT)]),
    Sentence(&[Has(WHEN), Any(LIMIT), Not(REACH), Lacks(PROHIBIT)]),
    Sentence(&[Has(WHEN), Not(DEAL), Any(REACH), Lacks(PROHIBIT)]),
    Sentence(&[Has(WHEN), Any(DEAL), Has(HOPELESS), Lacks(PROHIBIT)]),
    Sentence(&[Has(BETTER), Any(BAD_ENDS), Lacks(PROHIBIT)]),
];

#[cfg(test)]
mod tests;
