//! A way to a running job: a socket in the folder of its checkpoints, through which `flott savepoint`
//! asks for one.
//!
//! A request is a line, `savepoint <folder>` or `stop <folder>`; the answer is a line, `done` or
//! `error` and what went wrong with its line breaks as `\n`.

#[cfg(unix)]
pub use unix::{ControlSocket, request};

#[cfg(unix)]
mod unix {
    use std::io::{self, BufRead, BufReader, Write};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use flott::JobHandle;

    const NAME: &str = "control.sock";

    /// Listens until it is dropped.
    pub struct ControlSocket {
        path: PathBuf,
        over: Arc<AtomicBool>,
    }

    impl ControlSocket {
        /// Listens for the job if it keeps checkpoints in a folder. A job runs as well without.
        pub fn open(job: &JobHandle) -> Option<Self> {
            let folder = job.checkpoint_folder()?;
            match Self::listen(folder, job.clone()) {
                Ok(socket) => Some(socket),
                Err(error) => {
                    tracing::warn!("`flott savepoint` will not reach this job: {error}");
                    None
                }
            }
        }

        fn listen(folder: &Path, job: JobHandle) -> io::Result<Self> {
            std::fs::create_dir_all(folder)?;
            let path = folder.join(NAME);
            let listener = UnixListener::bind(&path)?;
            let over = Arc::new(AtomicBool::new(false));
            let until = over.clone();
            std::thread::Builder::new().name("flott control".into()).spawn(move || {
                for stream in listener.incoming() {
                    if until.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Err(error) = stream.and_then(|stream| serve(stream, &job)) {
                        tracing::warn!("a request to the job was lost: {error}");
                    }
                }
            })?;
            Ok(Self { path, over })
        }
    }

    impl Drop for ControlSocket {
        fn drop(&mut self) {
            self.over.store(true, Ordering::SeqCst);
            // Wakes the listener so that it sees that it is over.
            let _ = UnixStream::connect(&self.path);
            let _ = std::fs::remove_file(&self.path);
            // The folder of a job that has finished is gone but for the socket.
            if let Some(folder) = self.path.parent() {
                let _ = std::fs::remove_dir(folder);
            }
        }
    }

    fn serve(mut stream: UnixStream, job: &JobHandle) -> io::Result<()> {
        let mut line = String::new();
        BufReader::new(stream.try_clone()?).read_line(&mut line)?;
        let answer = match line.trim_end_matches('\n').split_once(' ') {
            Some((what @ ("savepoint" | "stop"), folder)) => {
                match job.savepoint(folder, what == "stop") {
                    Ok(()) => "done".to_string(),
                    Err(error) => format!("error {}", error.to_string().replace('\n', "\\n")),
                }
            }
            _ => "error not a request that this version knows".to_string(),
        };
        writeln!(stream, "{answer}")
    }

    /// Asks the job of a folder for a savepoint and waits until it is there.
    pub fn request(job: &Path, target: &Path, stop: bool) -> io::Result<Result<(), String>> {
        let mut stream = UnixStream::connect(job.join(NAME))?;
        let what = if stop { "stop" } else { "savepoint" };
        writeln!(stream, "{what} {}", target.display())?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer)?;
        let answer = answer.trim_end();
        if answer == "done" {
            return Ok(Ok(()));
        }
        let reason = answer.strip_prefix("error ").unwrap_or("the job ended before it answered");
        Ok(Err(reason.replace("\\n", "\n")))
    }
}
