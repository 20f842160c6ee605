//! `flott explain`: plans of a script's queries and INSERTs. Other statements are executed, since
//! plans depend on tables, views and options; nothing is read or written.

use flott::{Error, StatementKind, split_script};

use crate::args::ExplainArgs;
use crate::diagnostics::{Outcome, StatementError, print_statement, read_script};

/// Explains a script.
pub fn explain(args: &ExplainArgs) -> Outcome {
    let text = read_script(&args.file)?;
    let name = args.file.display().to_string();
    let mut session = args.session.session();
    let mut all_succeeded = true;
    for statement in split_script(&text) {
        let outcome = statement.parse().map_err(Error::from).and_then(|parsed| {
            match parsed.kind {
                StatementKind::Query(_)
                | StatementKind::Insert(_)
                | StatementKind::StatementSet(_) => {
                    let plan = session.plan(&parsed)?;
                    println!("-- statement {}", statement.number);
                    println!("{}", flott::explain(&plan));
                    if let Some(path) = &args.restore {
                        let effects = session.restore_effects(plan, path)?;
                        println!("== Restore from {} ==\n{effects}", path.display());
                    }
                }
                _ => {
                    session.execute_statement(&parsed)?;
                }
            }
            Ok(())
        });
        if let Err(error) = outcome {
            all_succeeded = false;
            print_statement(&StatementError::new(&error, statement.number, &name, &text));
        }
    }
    Ok(all_succeeded)
}
