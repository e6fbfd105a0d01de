//! GOAL text.
//!
//! It accepts more than LogGOPSim's `txt2bin`: indentation, comments anywhere, dependencies before
//! their labels, cpu and nic in either order, a rank in one line, and missing ranks.
//!
//! Lines as written by programs are read in one pass, in place; all others word by word.

use std::collections::HashSet;
use std::io::{BufRead, Error, ErrorKind, Read as _};

use super::error::{GoalError, Result, Wrong};
use super::labels::{Labels, counted, leading_number};
use super::schedule::{ANY_PEER, ANY_TAG, Dependency, Goal, MOST_SIZE, Operation, Verb};

/// Most bytes of a line.
const LINE: u64 = 64 << 10;

/// Reads a schedule to its end.
///
/// # Errors
/// It cannot be read, or is not GOAL text.
pub(super) fn read(mut source: impl BufRead) -> Result<Goal> {
    let mut text = Text::default();
    let (mut bytes, mut number, mut is_comment) = (Vec::new(), 0, false);
    loop {
        if !is_comment {
            let read = text.plain_lines(source.fill_buf()?, &mut number);
            source.consume(read);
        }
        bytes.clear();
        number += 1;
        let read = source.by_ref().take(LINE).read_until(b'\n', &mut bytes)? as u64;
        if read == LINE {
            let what = format!("line {number} has more than {LINE} bytes");
            return Err(Error::new(ErrorKind::InvalidData, what).into());
        }
        let is_end = read == 0;
        let mut line = Line { bytes: bytes.trim_ascii_end(), from: 0, at: 0, number, is_comment };
        let read = if is_end { text.end(&line) } else { text.line(&mut line) };
        read.map_err(|(line, at, wrong)| GoalError::Syntax(line, at + 1, wrong))?;
        if is_end {
            return Ok(text.goal.unwrap_or_default().whole());
        }
        is_comment = line.is_comment;
    }
}

/// A label, and its position in a line.
type Label = (Vec<u8>, usize);

/// Result, or the error with its line and position.
type Read<T> = Result<T, (u64, usize, Wrong)>;

#[derive(Default)]
struct Text {
    goal: Option<Goal>,
    /// The rank that is being read, and its first operation.
    inside: Option<(u32, u32)>,
    seen: HashSet<u32>,
    labels: Labels,
    dependencies: Vec<Dependency>,
    /// Dependencies with a label that was not known yet: their index, both labels with their
    /// positions, and the line.
    open: Vec<(usize, [Label; 2], u64)>,
}

impl Text {
    /// Reads plain lines up to the first one that is not plain, and returns the number of bytes
    /// read.
    fn plain_lines(&mut self, bytes: &[u8], number: &mut u64) -> usize {
        let mut rest = bytes;
        while let Some(behind) = self.plain_line(rest, *number + 1) {
            rest = behind;
            *number += 1;
        }
        bytes.len() - rest.len()
    }

    /// Reads a line of this rank if it has a form like `l7: send 8b to 1 tag 3` (or with `recv` or
    /// `calc`), or like `l7 requires l3` with both labels known. Returns what follows. Otherwise
    /// `None`, and nothing has changed.
    fn plain_line<'a>(&mut self, bytes: &'a [u8], number: u64) -> Option<&'a [u8]> {
        let (goal, (_, begin)) = self.goal.as_mut().zip(self.inside)?;
        let (_, rest) = counted(bytes)?;
        let label = &bytes[..bytes.len() - rest.len()];
        if let Some(rest) = rest.strip_prefix(b": ") {
            let (operation, behind) = plain_operation(rest, goal)?;
            if !self.labels.insert(label, goal.operations.len() as u32 - begin) {
                return None;
            }
            goal.push(operation, Some(u32::try_from(number).unwrap_or(u32::MAX)));
            return Some(behind);
        }
        let (start, rest) = match rest.strip_prefix(b" requires ") {
            Some(rest) => (false, rest),
            None => (true, rest.strip_prefix(b" irequires ")?),
        };
        let (_, end) = counted(rest)?;
        let behind = end.strip_prefix(b"\n")?;
        let other = &rest[..rest.len() - end.len()];
        let (before, after) = self.labels.get(other).zip(self.labels.get(label))?;
        self.dependencies.push(Dependency { before, after, start });
        Some(behind)
    }

    fn line(&mut self, line: &mut Line<'_>) -> Read<()> {
        let mut word = line.token();
        while !word.is_empty() {
            let Some(goal) = &mut self.goal else {
                line.is(word, "num_ranks")?;
                let size = line.number("a number of ranks", u64::from(u32::MAX) - 1)?;
                self.goal = Some(Goal::new(size as u32));
                word = line.token();
                continue;
            };
            match self.inside {
                None => {
                    line.is(word, "rank")?;
                    let rank = line.number("a rank", u64::MAX)?;
                    let rank = goal.rank(rank).map_err(|wrong| line.wrong(wrong))?;
                    if !self.seen.insert(rank) {
                        return Err(line.wrong(Wrong::RankTwice(rank)));
                    }
                    let brace = line.token();
                    line.is(brace, "{")?;
                    self.inside = Some((rank, goal.operations.len() as u32));
                    word = line.token();
                }
                Some(_) if word == b"}" => {
                    self.close(line)?;
                    word = line.token();
                }
                Some(_) => {
                    word = self.statement(word, line)?;
                    if !word.is_empty() && word != b"}" {
                        return line.expected("the end of the line");
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a statement such as `l: send 8b to 1 tag 3` or `a requires b`, and returns the next
    /// word.
    fn statement<'a>(&mut self, first: &'a [u8], line: &mut Line<'a>) -> Read<&'a [u8]> {
        let Some((goal, (_, begin))) = self.goal.as_mut().zip(self.inside) else {
            return Ok(first);
        };
        let from = line.from;
        if !is_label(first) {
            return line.expected("a label, send, recv or calc");
        }
        let mut second = line.token();
        let mut verb = first;
        let is_labelled = second == b":";
        if is_labelled {
            if !self.labels.insert(first, goal.operations.len() as u32 - begin) {
                return Err((line.number, from, Wrong::LabelTwice(text(first))));
            }
            verb = line.token();
            second = b"";
        }
        let start = match (verb, second) {
            // A label may have the name of an operation.
            (_, b"requires") => false,
            (_, b"irequires") => true,
            (b"send" | b"recv" | b"calc", _) => {
                if !is_labelled {
                    line.at = line.from;
                }
                let (operation, next) = operation(verb, line, goal)?;
                goal.push(operation, Some(u32::try_from(line.number).unwrap_or(u32::MAX)));
                return Ok(next);
            }
            _ if is_labelled => return line.expected("send, recv or calc"),
            _ => {
                // If no word follows, the first word is the wrong one.
                if !second.first().is_some_and(u8::is_ascii_alphabetic) {
                    line.from = from;
                }
                return line.expected("send, recv, calc, requires or irequires");
            }
        };
        let other = line.token();
        if !is_label(other) {
            return line.expected("a label");
        }
        let numbers = self.labels.get(other).zip(self.labels.get(first));
        let (before, after) = numbers.unwrap_or_else(|| {
            let labels = [(other.to_vec(), line.from), (first.to_vec(), from)];
            self.open.push((self.dependencies.len(), labels, line.number));
            (0, 0)
        });
        self.dependencies.push(Dependency { before, after, start });
        Ok(line.token())
    }

    /// Ends a rank.
    fn close(&mut self, line: &Line<'_>) -> Read<()> {
        for (dependency, labels, number) in self.open.drain(..) {
            let mut of = |(label, at): &Label| {
                let found = self.labels.get(label);
                found.ok_or_else(|| (number, *at, Wrong::UnknownLabel(text(label))))
            };
            let (before, after) = (of(&labels[0])?, of(&labels[1])?);
            let start = self.dependencies[dependency].start;
            self.dependencies[dependency] = Dependency { before, after, start };
        }
        if let (Some(goal), Some((rank, begin))) = (&mut self.goal, self.inside.take()) {
            goal.end(rank, begin, &self.dependencies).map_err(|wrong| line.wrong(wrong))?;
        }
        self.dependencies.clear();
        self.labels.clear();
        Ok(())
    }

    fn end(&self, line: &Line<'_>) -> Read<()> {
        match self.inside.is_some() || line.is_comment || self.goal.is_none() {
            true => Err(line.wrong(Wrong::Ends)),
            false => Ok(()),
        }
    }
}

/// An operation that fills a plain line, and what follows the line.
#[inline(always)]
fn plain_operation<'a>(bytes: &'a [u8], goal: &Goal) -> Option<(Operation, &'a [u8])> {
    let (verb, rest) = bytes.split_first_chunk()?;
    let (verb, way): (_, &[u8]) = match verb {
        b"send " => (Verb::Send, b"b to "),
        b"recv " => (Verb::Receive, b"b from "),
        b"calc " => (Verb::Compute, b""),
        _ => return None,
    };
    let (size, mut rest) = leading_number(rest)?;
    let (mut tag, mut peer) = (0, 0);
    if verb != Verb::Compute {
        (peer, rest) = leading_number(rest.strip_prefix(way)?)?;
        (tag, rest) = leading_number(rest.strip_prefix(b" tag ")?)?;
    }
    let peer = goal.rank(peer).ok()?;
    Some((Operation { size, tag, peer, verb, cpu: 0, nic: 0 }, rest.strip_prefix(b"\n")?))
}

/// Reads the rest of an operation, and returns the next word.
fn operation<'a>(verb: &[u8], line: &mut Line<'a>, goal: &Goal) -> Read<(Operation, &'a [u8])> {
    let verb = match verb {
        b"send" => Verb::Send,
        b"recv" => Verb::Receive,
        _ => Verb::Compute,
    };
    let mut of = Operation { size: 0, tag: 0, peer: 0, verb, cpu: 0, nic: 0 };
    let size = line.token();
    if verb == Verb::Compute {
        of.size = line.parsed(size, "a time", MOST_SIZE)?;
    } else {
        let Some(size) = size.strip_suffix(b"b") else { return line.expected("a size, e.g. 8b") };
        of.size = line.parsed(size, "a size, e.g. 8b", MOST_SIZE)?;
        let way = line.token();
        line.is(way, if verb == Verb::Send { "to" } else { "from" })?;
        of.peer = match line.token() {
            b"-1" if verb == Verb::Receive => ANY_PEER,
            peer => {
                let peer = line.parsed(peer, "a rank", u64::MAX)?;
                goal.rank(peer).map_err(|wrong| line.wrong(wrong))?
            }
        };
    }
    loop {
        match line.token() {
            b"tag" if verb != Verb::Compute => {
                of.tag = match line.token() {
                    b"-1" => ANY_TAG,
                    tag => line.parsed(tag, "a tag", u64::MAX)?,
                }
            }
            b"cpu" => of.cpu = line.number("a processor", 255)? as u8,
            b"nic" => of.nic = line.number("an interface", 255)? as u8,
            next => return Ok((of, next)),
        }
    }
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

fn is_label(word: &[u8]) -> bool {
    word.first().is_some_and(|byte| *byte != b'-' && CLASSES[usize::from(*byte)] == Class::Word)
}

/// Class of a byte. Words consist of letters, digits, underscores, points and minus signs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') {
            classes[byte as usize] = Class::Word;
        } else if byte.is_ascii_whitespace() {
            classes[byte as usize] = Class::Blank;
        }
        byte += 1;
    }
    classes
};

/// A line, and a position in it.
struct Line<'a> {
    bytes: &'a [u8],
    /// Begin and end of the last token.
    from: usize,
    at: usize,
    number: u64,
    is_comment: bool,
}

impl<'a> Line<'a> {
    /// The next word or other character; empty at the end.
    fn token(&mut self) -> &'a [u8] {
        let (bytes, mut at) = (self.bytes, self.at);
        let class = |at: usize| bytes.get(at).map(|byte| CLASSES[usize::from(*byte)]);
        while class(at) == Some(Class::Blank) {
            at += 1;
        }
        self.from = at;
        while class(at) == Some(Class::Word) {
            at += 1;
        }
        if self.is_comment || at == self.from && bytes.get(at) == Some(&b'/') {
            self.at = self.from;
            if self.comment() {
                return self.token();
            }
            self.from = self.at;
            at = self.at;
        }
        if at == self.from && at < bytes.len() {
            at += 1;
        }
        self.at = at;
        &bytes[self.from..at]
    }

    /// Skips a comment, if there is one. An unclosed comment continues in the next line.
    fn comment(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        if !self.is_comment && rest.starts_with(b"//") {
            self.at = self.bytes.len();
            return true;
        }
        if !self.is_comment && !rest.starts_with(b"/*") {
            return false;
        }
        let begin = self.at + if self.is_comment { 0 } else { 2 };
        let end = self.bytes[begin..].windows(2).position(|two| two == b"*/");
        self.at = end.map_or(self.bytes.len(), |end| begin + end + 2);
        self.is_comment = end.is_none();
        end.is_some()
    }

    fn is(&self, token: &[u8], what: &'static str) -> Read<()> {
        if token == what.as_bytes() { Ok(()) } else { self.expected(what) }
    }

    fn number(&mut self, what: &'static str, most: u64) -> Read<u64> {
        let token = self.token();
        self.parsed(token, what, most)
    }

    fn parsed(&self, token: &[u8], what: &'static str, most: u64) -> Read<u64> {
        let mut value: u64 = 0;
        for byte in token {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return self.expected(what);
            }
            let next = value.checked_mul(10).and_then(|tens| tens.checked_add(digit.into()));
            let next = next.filter(|next| *next <= most);
            value = next.ok_or_else(|| self.wrong(Wrong::TooLarge(most)))?;
        }
        if token.is_empty() { self.expected(what) } else { Ok(value) }
    }

    fn wrong(&self, wrong: Wrong) -> (u64, usize, Wrong) {
        (self.number, self.from, wrong)
    }

    fn expected<T>(&self, what: &'static str) -> Read<T> {
        let token = &self.bytes[self.from.min(self.bytes.len())..self.at.max(self.from)];
        Err(self.wrong(Wrong::Expected(what, text(&token[..token.len().min(LONGEST)]))))
    }
}

/// Longest part of a wrong word that an error shows, in bytes.
const LONGEST: usize = 40;
