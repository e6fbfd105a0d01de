//! What launchers, terminals and mail write before every line: `[1,0]<stdout>:`, `0: `, `[0] `, times of day, `> `,
//! and several of these. Whatever stands before the first heading is one, if the lines below begin with the same but
//! for numbers.

use crate::lines::Line;

/// A heading may begin no later than with this word.
const MOST_WORDS: usize = 12;

/// Takes away what stands before the first line that is a title or a heading.
pub(crate) fn take(
    lines: &mut Vec<Line>,
    is_title: impl Fn(&str) -> bool,
    is_heading: impl Fn(&str) -> bool,
) {
    let tells = |text: &str| is_title(text) || is_heading(text);
    // Of a long log of other programs only so many lines are looked at.
    let telling = lines.iter().enumerate().filter(|(_, line)| may_tell(&line.text)).take(2000);
    let above = telling.take_while(|(_, line)| !is_heading(&line.text));
    // A command line is a title whatever stands before it.
    let found = above.filter(|(_, line)| !is_title(&line.text)).find_map(|(at, line)| {
        let place = beginnings(&line.text).find(|place| tells(&line.text[*place..]))?;
        let prefix = line.text[..place].trim();
        // A title may have it where nothing else has.
        let has = |line: &&Line| rest(prefix, &line.text).is_some();
        let is_common = !prefix.is_empty() && lines[at..].iter().filter(has).nth(1).is_some();
        is_common.then(|| prefix.to_owned())
    });
    let Some(found) = found else { return };
    for line in lines.iter_mut() {
        if let Some(rest) = rest(&found, &line.text) {
            line.text = rest.to_owned();
        }
    }
    lines.retain(|line| !line.text.trim().is_empty());
}

/// Whether a line has a word that titles and headings have.
fn may_tell(text: &str) -> bool {
    const WORDS: &str =
        "size bytes len test benchmarking iterations --> | final: summary sockperf:";
    text.len() < 600 && WORDS.split(' ').any(|word| text.to_ascii_lowercase().contains(word))
}

/// Where a heading may begin in a line, but at its beginning.
fn beginnings(text: &str) -> impl Iterator<Item = usize> {
    let mut before = ' ';
    let places = text.char_indices().filter(move |(_, c)| {
        let begins = before.is_whitespace() || "]:>|)".contains(before);
        before = *c;
        begins && (c.is_alphanumeric() || "\"|+*(".contains(*c)) || *c == '#'
    });
    places.map(|(place, _)| place).filter(|place| *place > 0).take(MOST_WORDS)
}

/// What follows such a prefix, in which other numbers may stand.
fn rest<'a>(prefix: &str, text: &'a str) -> Option<&'a str> {
    let (mut prefix, mut text) = (prefix.trim(), text.trim_start());
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    while let Some(first) = prefix.chars().next() {
        let (left, right) = if first.is_ascii_digit() {
            (digits(prefix), digits(text))
        } else if first.is_whitespace() {
            (prefix.len() - prefix.trim_start().len(), text.len() - text.trim_start().len())
        } else {
            let same = text.starts_with(first);
            (first.len_utf8(), if same { first.len_utf8() } else { 0 })
        };
        if right == 0 {
            return None;
        }
        (prefix, text) = (&prefix[left..], &text[right..]);
    }
    Some(text)
}
