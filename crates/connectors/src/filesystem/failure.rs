//! What goes wrong with files, told with the file and the cure.

use std::fmt::Display;
use std::io::{Error, ErrorKind};

use flott_catalog::connector::ConnectorError;

/// The error for an attempt to `verb` (`read`, `write`, …) a file or directory.
pub(super) fn failure(verb: &str, path: impl Display, error: &Error) -> ConnectorError {
    let path = path.to_string();
    match error.kind() {
        ErrorKind::NotFound => {
            ConnectorError::new(format!("cannot {verb} '{path}': it does not exist"))
                .hint("check the option 'path'; a relative path starts at the working directory")
        }
        ErrorKind::PermissionDenied => {
            ConnectorError::new(format!("cannot {verb} '{path}': permission denied"))
                .hint("grant the user that runs the job access to it and to the directories above")
        }
        ErrorKind::StorageFull => {
            ConnectorError::new(format!("cannot {verb} '{path}': no space left")).transient()
        }
        // Making a directory where a file is tells the second.
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => ConnectorError::new(format!(
            "cannot {verb} '{path}': a file is in place of a directory"
        ))
        .hint("the option 'path' of a table that is written names a directory"),
        _ => ConnectorError::new(format!("cannot {verb} '{path}': {error}")),
    }
}
