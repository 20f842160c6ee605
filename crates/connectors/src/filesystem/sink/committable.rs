//! What writers hand to the committer.

use flott_catalog::connector::{Committable, ConnectorError};

use crate::pack::{Pack, Unpack};

const VERSION: u8 = 1;

/// Something a writer has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prepared {
    File(PreparedFile),
    Progress(Progress),
    /// The table was written in batch mode: it exists even when there was no row.
    Table {
        /// Whether what it held goes.
        overwrite: bool,
    },
}

/// A complete hidden file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreparedFile {
    /// The partition's directory below the table's, empty without partitions.
    pub(super) directory: String,
    /// The names of the file before and after the commit.
    pub(super) hidden: String,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// Which of its writer's commits the file belongs to.
    pub(super) round: u64,
    /// Whether what the directory held goes.
    pub(super) overwrite: bool,
}

/// How far a writer was when it prepared a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) task: u64,
    pub(super) tasks: u64,
    /// The event time that it reached, in milliseconds.
    pub(super) watermark: i64,
    /// Partitions that got rows and may not be marked complete yet, each with the time of its first row
    /// in milliseconds.
    pub(super) partitions: Vec<(String, u64)>,
}

impl Prepared {
    pub(super) fn pack(&self) -> Committable {
        let pack = Pack::new(VERSION);
        match self {
            Self::File(file) => pack
                .number(0)
                .text(&file.directory)
                .text(&file.hidden)
                .text(&file.name)
                .number(file.bytes)
                .number(file.round)
                .number(u64::from(file.overwrite)),
            Self::Progress(progress) => pack
                .number(1)
                .number(progress.task)
                .number(progress.tasks)
                .number(progress.watermark as u64)
                .list(progress.partitions.iter(), |pack, (directory, since)| {
                    pack.text(directory).number(*since)
                }),
            Self::Table { overwrite } => pack.number(2).number(u64::from(*overwrite)),
        }
        .finish()
    }

    pub(super) fn unpack(committable: &[u8]) -> Result<Self, ConnectorError> {
        let mut unpack = Unpack::new(committable, VERSION, "prepared commit of files")?;
        Ok(match unpack.number()? {
            0 => Self::File(PreparedFile {
                directory: unpack.text()?,
                hidden: unpack.text()?,
                name: unpack.text()?,
                bytes: unpack.number()?,
                round: unpack.number()?,
                overwrite: unpack.flag()?,
            }),
            1 => Self::Progress(Progress {
                task: unpack.number()?,
                tasks: unpack.number()?,
                watermark: unpack.number()? as i64,
                partitions: unpack.list(|unpack| Ok((unpack.text()?, unpack.number()?)))?,
            }),
            2 => Self::Table { overwrite: unpack.flag()? },
            _ => return Err(unpack.broken()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committables_survive_their_encoding() {
        for prepared in [
            Prepared::File(PreparedFile {
                directory: "k=1".into(),
                hidden: ".part".into(),
                name: "part".into(),
                bytes: 7,
                round: 2,
                overwrite: true,
            }),
            Prepared::Progress(Progress {
                task: 1,
                tasks: 2,
                watermark: i64::MIN,
                partitions: vec![("k=1".into(), 5)],
            }),
            Prepared::Table { overwrite: false },
        ] {
            assert_eq!(Prepared::unpack(&prepared.pack()).unwrap(), prepared);
        }
        assert!(Prepared::unpack(b"junk").is_err());
    }
}
