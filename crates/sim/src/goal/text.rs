//! GOAL text.
//!
//! More is read than LogGOPSim's `txt2bin` reads: indentation, comments anywhere, dependencies in front of their
//! labels, cpu and nic in either order, several statements of a rank in one line, ranks that are left out.

use std::io::BufRead;

use super::error::{GoalError, Wrong};
use super::labels::Labels;
use super::schedule::{ANY_PEER, ANY_TAG, Builder, Dependency, Goal, Operation, Verb};

/// Most bytes of a message, and nanoseconds of a computation.
const MOST_SIZE: u64 = (1 << 63) - 1;
/// Most ranks.
const MOST_RANKS: u64 = u32::MAX as u64 - 1;

/// Reads a schedule to its end.
///
/// # Errors
/// It cannot be read, or is not GOAL text.
pub(super) fn read(mut source: impl BufRead) -> Result<Goal, GoalError> {
    let mut text = Text::default();
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let is_end = source.read_until(b'\n', &mut line)? == 0;
        let mut cursor = Cursor { bytes: line.trim_ascii_end(), at: 0 };
        let read = match is_end {
            true => text.end(),
            false => text.line(&mut cursor, number),
        };
        if let Err((line, at, wrong)) = read {
            let (line, at) = if line == 0 { (number, cursor.at) } else { (line, at) };
            return Err(GoalError::Syntax { line, column: at + 1, wrong });
        }
        if is_end {
            return Ok(text.builder.map(Builder::finish).unwrap_or_default());
        }
    }
}

/// What is wrong, with its line and column; both 0 where reading has come to it.
type Read<T> = Result<T, (u64, usize, Wrong)>;

fn here<T>(wrong: Wrong) -> Read<T> {
    Err((0, 0, wrong))
}

#[derive(Default)]
struct Text {
    builder: Option<Builder>,
    is_inside: bool,
    is_comment: bool,
    seen: Vec<u64>,
    labels: Labels,
    dependencies: Vec<Dependency>,
    /// Dependencies with a label that was not there yet.
    open: Vec<Open>,
}

/// A dependency whose labels are looked up at the end of the rank.
struct Open {
    at: usize,
    labels: [(Vec<u8>, usize); 2],
    line: u64,
}

impl Text {
    fn line(&mut self, line: &mut Cursor<'_>, number: u64) -> Read<()> {
        let mut is_first = true;
        loop {
            line.skip(&mut self.is_comment);
            if line.is_end() {
                return Ok(());
            }
            let at = line.at;
            if self.is_inside && line.eat(b'}') {
                self.close()?;
            } else if !is_first {
                return line.expected("the end of the line");
            } else if self.is_inside {
                self.statement(line, number)?;
            } else {
                self.head(line).map_err(|(of, column, wrong)| match wrong {
                    Wrong::RankTwice(_) | Wrong::RankBeyond(..) => (number, at, wrong),
                    wrong => (of, column, wrong),
                })?;
                continue;
            }
            is_first = false;
        }
    }

    /// `num_ranks 4`, or `rank 0 {`.
    fn head(&mut self, line: &mut Cursor<'_>) -> Read<()> {
        let Some(builder) = &mut self.builder else {
            line.keyword("num_ranks")?;
            self.builder = Some(Builder::new(line.number("a number of ranks", MOST_RANKS)? as u32));
            return Ok(());
        };
        line.keyword("rank")?;
        let rank = line.number("a rank", u64::MAX)?;
        let below = u32::try_from(rank).ok().filter(|rank| *rank < builder.size());
        let Some(below) = below else { return here(Wrong::RankBeyond(rank, builder.size())) };
        let (word, bit) = (below as usize / 64, 1 << (below % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            return here(Wrong::RankTwice(rank));
        }
        self.seen[word] |= bit;
        line.skip(&mut self.is_comment);
        if !line.eat(b'{') {
            return line.expected("{");
        }
        builder.begin(below);
        self.is_inside = true;
        Ok(())
    }

    /// `l: send 8b to 1 tag 3`, or `a requires b`.
    fn statement(&mut self, line: &mut Cursor<'_>, number: u64) -> Read<()> {
        let Some(builder) = &mut self.builder else { return line.expected("num_ranks") };
        let begin = line.at;
        let mut word = line.word();
        line.blank();
        let is_labelled = !word.is_empty() && line.eat(b':');
        if is_labelled {
            if !self.labels.insert(word, builder.next()) {
                line.at = begin;
                return here(Wrong::LabelTwice(text(word)));
            }
            line.blank();
            word = line.word();
        }
        let verb = match word {
            b"send" => Verb::Send,
            b"recv" => Verb::Receive,
            b"calc" => Verb::Compute,
            _ if is_labelled || word.is_empty() => {
                line.at -= word.len();
                return line.expected("send, recv or calc");
            }
            _ => return self.dependency((word, begin), line, number),
        };
        line.blank();
        // A label may be called so.
        if !is_labelled && line.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return self.dependency((word, begin), line, number);
        }
        let operation = operation(verb, line, builder.size(), &mut self.is_comment)?;
        let row = u32::try_from(number).unwrap_or(u32::MAX);
        builder.push(operation, Some(row)).map_or_else(|| here(Wrong::TooMany), Ok)
    }

    /// The rest of `a requires b`.
    fn dependency(
        &mut self,
        after: (&[u8], usize),
        line: &mut Cursor<'_>,
        number: u64,
    ) -> Read<()> {
        line.blank();
        let start = match line.word() {
            b"requires" => false,
            b"irequires" => true,
            other => {
                // Where no word follows, the first one is the wrong one.
                let is_word = other.first().is_some_and(u8::is_ascii_alphabetic);
                line.at = if is_word { line.at - other.len() } else { after.1 };
                return line.expected("send, recv, calc, requires or irequires");
            }
        };
        line.blank();
        let at = line.at;
        let before = (line.word(), at);
        if before.0.is_empty() {
            return line.expected("a label");
        }
        let numbers = (self.labels.get(before.0), self.labels.get(after.0));
        let dependency = match numbers {
            (Some(before), Some(after)) => Dependency { before, after, start },
            _ => {
                let labels = [before, after].map(|(label, at)| (label.to_vec(), at));
                self.open.push(Open { at: self.dependencies.len(), labels, line: number });
                Dependency { before: 0, after: 0, start }
            }
        };
        self.dependencies.push(dependency);
        Ok(())
    }

    /// The end of a rank.
    fn close(&mut self) -> Read<()> {
        for Open { at, labels, line } in self.open.drain(..) {
            let mut numbers = [0; 2];
            for ((label, at), number) in labels.iter().zip(&mut numbers) {
                *number = self
                    .labels
                    .get(label)
                    .ok_or_else(|| (line, *at, Wrong::UnknownLabel(text(label))))?;
            }
            let start = self.dependencies[at].start;
            self.dependencies[at] = Dependency { before: numbers[0], after: numbers[1], start };
        }
        let ended = self.builder.as_mut().and_then(|of| of.end(&self.dependencies));
        self.dependencies.clear();
        self.labels.clear();
        self.is_inside = false;
        ended.map_or_else(|| here(Wrong::TooMany), Ok)
    }

    fn end(&self) -> Read<()> {
        match self.is_inside || self.is_comment || self.builder.is_none() {
            true => here(Wrong::Ends),
            false => Ok(()),
        }
    }
}

/// The rest of an operation, behind its verb.
fn operation(
    verb: Verb,
    line: &mut Cursor<'_>,
    ranks: u32,
    is_comment: &mut bool,
) -> Read<Operation> {
    let size = line.number("a size", MOST_SIZE)?;
    let (mut peer, mut tag, mut cpu, mut nic) = (0, 0, 0, 0);
    if verb != Verb::Compute {
        if !line.eat(b'b') {
            return line.expected("b (bytes)");
        }
        line.keyword(if verb == Verb::Send { "to" } else { "from" })?;
        line.blank();
        let at = line.at;
        peer = match verb == Verb::Receive && line.any() {
            true => ANY_PEER,
            false => {
                let rank = line.number("a rank", u64::MAX)?;
                let below = u32::try_from(rank).ok().filter(|rank| *rank < ranks);
                let Some(below) = below else {
                    line.at = at;
                    return here(Wrong::RankBeyond(rank, ranks));
                };
                below
            }
        };
    }
    loop {
        line.skip(is_comment);
        let at = line.at;
        match line.word() {
            b"tag" if verb != Verb::Compute => {
                line.blank();
                tag = if line.any() { ANY_TAG } else { line.number("a tag", u64::MAX)? };
            }
            b"cpu" => cpu = line.number("a processor", 255)? as u8,
            b"nic" => nic = line.number("an interface", 255)? as u8,
            _ => {
                line.at = at;
                return Ok(Operation { size, tag, peer, verb, cpu, nic });
            }
        }
    }
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

/// A place in a line.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn is_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips blanks and comments; one that is not closed goes on in the next line.
    fn skip(&mut self, is_comment: &mut bool) {
        loop {
            if *is_comment {
                let end = self.bytes[self.at..].windows(2).position(|two| two == b"*/");
                *is_comment = end.is_none();
                self.at = end.map_or(self.bytes.len(), |end| self.at + end + 2);
            }
            self.blank();
            match self.bytes.get(self.at..self.at + 2) {
                Some(b"//") => self.at = self.bytes.len(),
                Some(b"/*") => {
                    self.at += 2;
                    *is_comment = true;
                }
                _ => return,
            }
        }
    }

    /// Letters, digits, underscores and dots; perhaps none.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let is_of = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.';
        let length = rest.iter().position(|byte| !is_of(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn keyword(&mut self, word: &'static str) -> Read<()> {
        self.blank();
        let at = self.at;
        if self.word() == word.as_bytes() {
            return Ok(());
        }
        self.at = at;
        self.expected(word)
    }

    /// -1.
    fn any(&mut self) -> bool {
        let is_any = self.bytes[self.at..].starts_with(b"-1");
        self.at += if is_any { 2 } else { 0 };
        is_any
    }

    fn number(&mut self, what: &'static str, most: u64) -> Read<u64> {
        self.blank();
        let at = self.at;
        let mut value: u64 = 0;
        while let Some(digit) = self.peek().map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d < 10)
        {
            let next = value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit)));
            let Some(next) = next.filter(|next| *next <= most) else {
                self.at = at;
                return here(Wrong::TooLarge(most));
            };
            value = next;
            self.at += 1;
        }
        if self.at == at { self.expected(what) } else { Ok(value) }
    }

    fn expected<T>(&self, what: &'static str) -> Read<T> {
        let rest = self.bytes[self.at..].iter();
        let word = rest.take_while(|byte| !byte.is_ascii_whitespace()).take(LONGEST);
        let word: Vec<u8> = word.copied().collect();
        here(Wrong::Expected(what, text(&word)))
    }
}

/// Bytes of a wrong word that are told.
const LONGEST: usize = 40;
