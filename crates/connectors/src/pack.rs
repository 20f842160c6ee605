//! The byte form of positions, committables and writer state: a version, then numbers and texts.

use flott_catalog::connector::ConnectorError;

/// Writes a packed value.
#[derive(Default)]
pub(crate) struct Pack(Vec<u8>);

impl Pack {
    /// Starts with a version, by which a later program tells the layout.
    pub(crate) fn new(version: u8) -> Self {
        Self(vec![version])
    }

    pub(crate) fn number(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        let mut pack = self.number(text.len() as u64);
        pack.0.extend_from_slice(text.as_bytes());
        pack
    }

    pub(crate) fn optional_number(self, number: Option<u64>) -> Self {
        match number {
            None => self.number(0),
            Some(number) => self.number(1).number(number),
        }
    }

    pub(crate) fn optional_text(self, text: Option<&str>) -> Self {
        match text {
            None => self.number(0),
            Some(text) => self.number(1).text(text),
        }
    }

    /// A list: its length, then what `each` writes of an item.
    pub(crate) fn list<T>(
        self,
        items: impl ExactSizeIterator<Item = T>,
        each: impl Fn(Self, T) -> Self,
    ) -> Self {
        let pack = self.number(items.len() as u64);
        items.fold(pack, each)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what [`Pack`] wrote, in the same order.
pub(crate) struct Unpack<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Unpack<'a> {
    /// Starts reading `bytes`, which must be of `version`. `what` names them in errors.
    pub(crate) fn new(
        bytes: &'a [u8],
        version: u8,
        what: &'static str,
    ) -> Result<Self, ConnectorError> {
        match bytes.split_first() {
            Some((found, rest)) if *found == version => Ok(Self { rest, what }),
            Some((found, _)) => {
                Err(ConnectorError::new(format!("{what} has version {found}, known is {version}"))
                    .hint("resume with the version of Flott that wrote it"))
            }
            None => Err(ConnectorError::new(format!("{what} is empty"))),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64, ConnectorError> {
        let Some((number, rest)) = self.rest.split_first_chunk() else {
            return Err(self.broken());
        };
        self.rest = rest;
        Ok(u64::from_le_bytes(*number))
    }

    pub(crate) fn text(&mut self) -> Result<String, ConnectorError> {
        let len = usize::try_from(self.number()?).map_err(|_| self.broken())?;
        let Some((text, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.broken());
        };
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| self.broken())
    }

    pub(crate) fn optional_number(&mut self) -> Result<Option<u64>, ConnectorError> {
        if self.flag()? { self.number().map(Some) } else { Ok(None) }
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, ConnectorError> {
        if self.flag()? { self.text().map(Some) } else { Ok(None) }
    }

    pub(crate) fn flag(&mut self) -> Result<bool, ConnectorError> {
        self.number().map(|number| number != 0)
    }

    /// A list of what `each` reads.
    pub(crate) fn list<T>(
        &mut self,
        each: impl Fn(&mut Self) -> Result<T, ConnectorError>,
    ) -> Result<Vec<T>, ConnectorError> {
        let len = self.number()?;
        (0..len).map(|_| each(self)).collect()
    }

    pub(crate) fn broken(&self) -> ConnectorError {
        ConnectorError::new(format!("{} is damaged", self.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_in_order() {
        let bytes = Pack::new(1)
            .number(7)
            .text("päth")
            .optional_number(None)
            .optional_number(Some(u64::MAX))
            .optional_text(Some(""))
            .list(["a", "b"].iter(), |pack, item| pack.text(item))
            .finish();
        let mut unpack = Unpack::new(&bytes, 1, "position").unwrap();
        assert_eq!(unpack.number().unwrap(), 7);
        assert_eq!(unpack.text().unwrap(), "päth");
        assert_eq!(unpack.optional_number().unwrap(), None);
        assert_eq!(unpack.optional_number().unwrap(), Some(u64::MAX));
        assert_eq!(unpack.optional_text().unwrap(), Some(String::new()));
        assert_eq!(unpack.list(Unpack::text).unwrap(), ["a", "b"]);
        assert!(unpack.number().is_err());
    }

    #[test]
    fn damaged_bytes_give_errors() {
        assert!(Unpack::new(&[], 1, "position").is_err());
        assert!(Unpack::new(&[2], 1, "position").is_err());
        let endless = Pack::new(1).number(u64::MAX).finish();
        assert!(Unpack::new(&endless, 1, "position").unwrap().text().is_err());
        assert!(Unpack::new(&endless, 1, "position").unwrap().list(Unpack::number).is_err());
    }
}
