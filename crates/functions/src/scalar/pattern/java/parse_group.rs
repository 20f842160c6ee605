//! What a parenthesis opens: groups, looks around, flags.

use super::PatternError;
use super::ast::Node;
use super::cursor::Flags;
use super::parser::Parser;

impl Parser {
    /// What follows `(`.
    pub(super) fn group(&mut self) -> Result<Option<Node>, PatternError> {
        let outer = self.flags;
        if !self.eat('?') {
            self.groups += 1;
            let node = self.group_body(outer)?;
            return Ok(Some(Node::Group(Box::new(node))));
        }
        let (behind, negative) = match self.next_raw() {
            Some(':') => return self.group_body(outer).map(Some),
            Some('>') => {
                let node = self.group_body(outer)?;
                return Ok(Some(Node::Atomic(Box::new(node))));
            }
            Some('=') => (false, false),
            Some('!') => (false, true),
            Some('<') => match self.next_raw() {
                Some('=') => (true, false),
                Some('!') => (true, true),
                _ => {
                    self.back(1);
                    return self.named_group(outer).map(Some);
                }
            },
            _ => {
                self.back(1);
                return self.flag_group(outer);
            }
        };
        let node = Box::new(self.group_body(outer)?);
        Ok(Some(Node::Look { behind, negative, node }))
    }

    /// The rest of a group; flags set inside end with it.
    fn group_body(&mut self, outer: Flags) -> Result<Node, PatternError> {
        let node = self.choice()?;
        if !self.eat(')') {
            return Err(self.invalid("unclosed group"));
        }
        self.flags = outer;
        Ok(node)
    }

    fn named_group(&mut self, outer: Flags) -> Result<Node, PatternError> {
        let name = self.group_name()?;
        self.groups += 1;
        if self.names.insert(name.clone(), self.groups).is_some() {
            return Err(self.invalid(&format!("named capturing group <{name}> is already defined")));
        }
        let node = self.group_body(outer)?;
        Ok(Node::Group(Box::new(node)))
    }

    /// A name and `>`.
    pub(super) fn group_name(&mut self) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(c) = self.next_raw() {
            match c {
                '>' if !name.is_empty() => return Ok(name),
                _ if c.is_ascii_alphabetic() => name.push(c),
                _ if c.is_ascii_digit() && !name.is_empty() => name.push(c),
                _ => break,
            }
        }
        Err(self.invalid("a group name is letters and digits, a letter first, and then '>'"))
    }

    /// Flags that hold for the rest of the enclosing group, or for a group of their own.
    fn flag_group(&mut self, outer: Flags) -> Result<Option<Node>, PatternError> {
        let mut on = true;
        loop {
            match self.next() {
                Some('-') if on => on = false,
                Some(')') => return Ok(None),
                Some(':') => return self.group_body(outer).map(Some),
                Some('i') => self.flags.insensitive = on,
                Some('m') => self.flags.multiline = on,
                Some('s') => self.flags.dot_all = on,
                Some('d') => self.flags.unix_lines = on,
                Some('u') => self.flags.unicode_case = on,
                Some('x') => self.flags.comments = on,
                Some('U') => {
                    self.flags.unicode_class = on;
                    self.flags.unicode_case = on;
                }
                Some('c') => {
                    let reason = "canonical equivalence (flag c)".into();
                    return Err(PatternError::Unsupported(reason));
                }
                _ => return Err(self.invalid("unknown inline modifier")),
            }
        }
    }
}
