//! Formulas: sums, differences, products, quotients and the largest of names, numbers and parentheses.
//!
//! ```text
//! 2 * (pcie + network) + rc_to_mem_64
//! llp_post + pcie@initiator + network + pcie@target
//! sum:hlp + sum:network
//! max(gap, send + receive)
//! ```
//!
//! A name is that of a component or of another model. `name@target` counts the component as one of that
//! side. `sum:WORD` is the sum of all components of a category, a layer or a side, and `sum:all` that of all.
//! A name that is no plain word stands between back quotes.

use derive_more::Display;

use super::component::{Category, Layer, Side};

/// Parentheses in one another, at most.
const DEEPEST: usize = 32;

/// A formula as it was parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Its terms.
    pub terms: Vec<Term>,
}

/// A term of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether it is subtracted.
    pub negative: bool,
    /// Its factors.
    pub factors: Vec<Factor>,
    /// It as it was written, without its sign.
    pub text: String,
}

/// A factor of a product.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Whether the product is divided by it.
    pub divides: bool,
    /// What it is.
    pub node: Node,
}

/// What a formula is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A number without a unit.
    Number(f64),
    /// A component, or a model.
    Name {
        /// Its name.
        name: String,
        /// The side that the component counts for here.
        side: Option<Side>,
    },
    /// The sum of all components that have something in common.
    Group(Group),
    /// A formula in parentheses.
    Sum(Formula),
    /// The largest of several formulas.
    Max(Vec<Formula>),
}

/// Components that have something in common.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// All.
    #[display("all")]
    All,
    /// Those of a category.
    Category(Category),
    /// Those of a layer.
    Layer(Layer),
    /// Those of a side.
    Side(Side),
}

impl Group {
    /// The group that is called so. `network` is the category, not what lies between the sides.
    pub fn named(word: &str) -> Option<Group> {
        let category = || Category::named(word).map(Group::Category);
        let layer = || Layer::named(word).map(Group::Layer);
        let side = || Side::named(word).map(Group::Side);
        (word == "all").then_some(Group::All).or_else(category).or_else(layer).or_else(side)
    }
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Formula, String> {
        let mut parser = Parser { text, at: 0 };
        let formula = parser.sum(0)?;
        match parser.peek() {
            None => Ok(formula),
            Some(_) => Err(parser.expected("an operator")),
        }
    }

    /// The names, groups and numbers in it, in their order: those in parentheses and in what is not the largest too.
    pub fn nodes(&self) -> Vec<&Node> {
        let mut nodes = Vec::new();
        for factor in self.terms.iter().flat_map(|term| &term.factors) {
            match &factor.node {
                Node::Sum(inner) => nodes.extend(inner.nodes()),
                Node::Max(all) => nodes.extend(all.iter().flat_map(Formula::nodes)),
                node => nodes.push(node),
            }
        }
        nodes
    }

    /// The names in it, in their order.
    pub fn names(&self) -> Vec<&str> {
        fn name(node: &Node) -> Option<&str> {
            match node {
                Node::Name { name, .. } => Some(name),
                _ => None,
            }
        }
        self.nodes().into_iter().filter_map(name).collect()
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Bytes that were read.
    at: usize,
}

impl Parser<'_> {
    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Takes the next character if it is one of these.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn expected(&mut self, what: &str) -> String {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(next) => format!("'{}'", next.escape_default()),
        };
        let column = self.text[..self.at].chars().count() + 1;
        format!("the formula needs {what} at its character {column}, where {found} is")
    }

    fn sum(&mut self, depth: usize) -> Result<Formula, String> {
        if depth > DEEPEST {
            return Err(format!("the formula has more than {DEEPEST} parentheses in one another"));
        }
        let mut negative = self.take(&['-', '+']) == Some('-');
        let mut terms = Vec::new();
        loop {
            self.peek();
            let from = self.at;
            let factors = self.product(depth)?;
            let text = self.text[from..self.at].trim().to_owned();
            terms.push(Term { negative, factors, text });
            match self.take(&['-', '+']) {
                None => return Ok(Formula { terms }),
                Some(sign) => negative = sign == '-',
            }
        }
    }

    fn product(&mut self, depth: usize) -> Result<Vec<Factor>, String> {
        let mut factors = vec![Factor { divides: false, node: self.node(depth)? }];
        while let Some(sign) = self.take(&['*', '·', '×', '/']) {
            factors.push(Factor { divides: sign == '/', node: self.node(depth)? });
        }
        Ok(factors)
    }

    fn node(&mut self, depth: usize) -> Result<Node, String> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.sum(depth + 1)?;
                match self.take(&[')']) {
                    Some(_) => Ok(Node::Sum(inner)),
                    None => Err(self.expected("')'")),
                }
            }
            Some(next) if next.is_ascii_digit() || next == '.' => self.number(),
            Some(next) if next.is_alphabetic() || next == '_' || next == '`' => self.name(depth),
            _ => Err(self.expected("a name, a number or '('")),
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..length].parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| self.expected("a number"))?;
        self.at += length;
        Ok(Node::Number(number))
    }

    /// The word that comes next.
    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let outside = |c: char| !c.is_alphanumeric() && c != '_' && c != '.';
        let length = rest.find(outside).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The formulas of a largest, behind the first parenthesis.
    fn max(&mut self, depth: usize) -> Result<Node, String> {
        let mut all = vec![self.sum(depth + 1)?];
        while self.take(&[',']).is_some() {
            all.push(self.sum(depth + 1)?);
        }
        match self.take(&[')']) {
            Some(_) => Ok(Node::Max(all)),
            None => Err(self.expected("',' or ')'")),
        }
    }

    fn name(&mut self, depth: usize) -> Result<Node, String> {
        let name = if self.take(&['`']).is_some() {
            let rest = &self.text[self.at..];
            let Some(length) = rest.find('`') else {
                self.at = self.text.len();
                return Err(self.expected("a second '`'"));
            };
            self.at += length + 1;
            rest[..length].to_owned()
        } else {
            self.word().to_owned()
        };
        if name == "max" && self.take(&['(']).is_some() {
            return self.max(depth);
        }
        if name == "sum" && self.take(&[':']).is_some() {
            let word = self.word();
            return Group::named(word).map(Node::Group).ok_or_else(|| {
                format!("sum:{word} names no components: give a category, a layer, a side or all")
            });
        }
        if self.take(&['@']).is_none() {
            return Ok(Node::Name { name, side: None });
        }
        let word = self.word();
        let side = Side::named(word);
        let side = side.ok_or_else(|| format!("@{word} is no side: {}", Side::EXPECTED))?;
        Ok(Node::Name { name, side: Some(side) })
    }
}
