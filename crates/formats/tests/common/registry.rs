//! A schema registry in this process: it gives numbers to schemas and finds them again.

#![allow(dead_code, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A registry that runs until the process ends.
#[derive(Clone)]
pub struct Registry {
    pub url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Subject, schema and what else the answer has; the number is the position, from 1.
    schemas: Vec<(String, String, String)>,
    requests: Vec<String>,
    login: Option<String>,
    /// How many requests fail before one is answered.
    failures: usize,
}

impl Registry {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let _ = answer(socket, &shared);
            }
        });
        Self { url, state }
    }

    /// Registers a schema beside its clients; `more` are members of its answer such as references.
    pub fn register(&self, subject: &str, schema: &str, more: &str) -> u32 {
        let mut state = self.state.lock().expect("no panic");
        state.schemas.push((subject.into(), schema.into(), more.into()));
        state.schemas.len() as u32
    }

    /// The schemas of a subject, as they were registered.
    pub fn subject(&self, subject: &str) -> Vec<String> {
        let state = self.state.lock().expect("no panic");
        let of_subject = state.schemas.iter().filter(|(name, ..)| name == subject);
        of_subject.map(|(_, schema, _)| schema.clone()).collect()
    }

    /// What was asked since the last call: method and path.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().expect("no panic").requests)
    }

    /// Lets nobody in but who shows this.
    pub fn require(&self, authorization: &str) {
        self.state.lock().expect("no panic").login = Some(authorization.into());
    }

    /// Fails the next requests.
    pub fn fail(&self, requests: usize) {
        self.state.lock().expect("no panic").failures = requests;
    }
}

fn answer(socket: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(socket);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_string());
    }
    let header = |name: &str| {
        head.iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_string())
        })
    };
    let len = header("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
    let mut body = vec![0; len];
    reader.read_exact(&mut body)?;
    let mut request = head.first().map_or("", String::as_str).split(' ');
    let (method, path) = (request.next().unwrap_or(""), request.next().unwrap_or(""));
    let body = String::from_utf8_lossy(&body);
    let (status, text) =
        state.lock().expect("no panic").answer(method, path, &body, header("authorization"));
    write!(
        reader.get_mut(),
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{text}",
        text.len()
    )
}

impl State {
    fn answer(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        authorization: Option<String>,
    ) -> (u16, String) {
        self.requests.push(format!("{method} {path}"));
        if self.failures > 0 {
            self.failures -= 1;
            return (503, "busy".into());
        }
        if self.login.is_some() && self.login != authorization {
            return (401, r#"{"error_code":401,"message":"Unauthorized"}"#.into());
        }
        let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
        match (method, &parts[..]) {
            ("POST", ["subjects", subject, "versions"]) => self.post(subject, body),
            ("GET", ["schemas", "ids", id]) => self.find(id.parse().unwrap_or(0)),
            ("GET", ["subjects", subject, "versions", version]) => {
                let of_subject = |(_, entry): &(usize, &(String, _, _))| entry.0 == *subject;
                let mut found = self.schemas.iter().enumerate().filter(of_subject);
                let at = version.parse::<usize>().unwrap_or(1) - 1;
                let at = found.nth(at).map(|(at, _)| at + 1);
                self.find(at.unwrap_or(0))
            }
            _ => (404, r#"{"error_code":404,"message":"HTTP 404 Not Found"}"#.into()),
        }
    }

    fn post(&mut self, subject: &str, body: &str) -> (u16, String) {
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let schema = body["schema"].as_str().expect("a schema").to_string();
        let subject = subject.replace("%20", " ");
        if let Some(at) = self.schemas.iter().position(|entry| entry.1 == schema) {
            return (200, format!(r#"{{"id":{}}}"#, at + 1));
        }
        if self.schemas.iter().any(|entry| entry.0 == subject) {
            let message = "Schema being registered is incompatible with an earlier schema";
            return (409, format!(r#"{{"error_code":409,"message":"{message}"}}"#));
        }
        self.schemas.push((subject, schema, String::new()));
        (200, format!(r#"{{"id":{}}}"#, self.schemas.len()))
    }

    fn find(&self, id: usize) -> (u16, String) {
        match id.checked_sub(1).and_then(|at| self.schemas.get(at)) {
            Some((_, schema, more)) => {
                let schema = serde_json::Value::String(schema.clone());
                (200, format!(r#"{{"schema":{schema}{more}}}"#))
            }
            None => (404, r#"{"error_code":40403,"message":"Schema not found"}"#.into()),
        }
    }
}
