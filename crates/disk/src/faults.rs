//! A disk that fails, for tests: errors, short writes, no room, and what a loss of power leaves.
//!
//! [`FaultyDisk`] stands between this crate and the real disk on the thread that made it. A seed decides
//! what fails and when; the same steps fail in the same way again.

mod losses;
mod random;

use std::cell::RefCell;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::folder::Removal;
use losses::Losses;
use random::Random;

/// Something that is about to be done to the disk.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "read by Debug")]
pub(crate) enum Change<'a> {
    Create(&'a Path),
    Append(&'a Path),
    Sync(&'a Path),
    SyncFolder(&'a Path),
    MakeFolder(&'a Path),
    Rename(&'a Path, &'a Path),
    Read(&'a Path),
}

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// It is killed: what it did stays.
    Kill,
    /// The machine loses power: what was not waited for may be lost, in part or as a whole.
    PowerLoss,
}

/// What goes wrong with a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails; of a write, a part is done.
    Error,
    /// It is done, and reported as failed. What only waits for the disk fails.
    ErrorAfter,
    /// There is no room, for this change and some after it.
    Full,
    /// The process ends before it.
    Death(Death),
    /// The process ends after it.
    DeathAfter(Death),
}

impl Fault {
    /// All there are.
    pub const ALL: [Self; 7] = [
        Self::Error,
        Self::ErrorAfter,
        Self::Full,
        Self::Death(Death::Kill),
        Self::DeathAfter(Death::Kill),
        Self::Death(Death::PowerLoss),
        Self::DeathAfter(Death::PowerLoss),
    ];

    fn random(random: &mut Random) -> Self {
        match random.below(20) {
            0..6 => Self::Error,
            6..9 => Self::ErrorAfter,
            9..12 => Self::Full,
            12..15 => Self::Death(Death::Kill),
            15 => Self::DeathAfter(Death::Kill),
            16..19 => Self::Death(Death::PowerLoss),
            _ => Self::DeathAfter(Death::PowerLoss),
        }
    }
}

/// The disk of the present thread until it is dropped.
pub struct FaultyDisk(Rc<RefCell<Disk>>);

struct Disk {
    random: Random,
    losses: Losses,
    /// Faults that are still to come, and after how many changes the next one does.
    faults: u32,
    every: u64,
    countdown: u64,
    /// What the fault is, where that is not left to chance.
    planned: Option<Fault>,
    /// For so many changes more there is no room.
    full: u32,
    /// The rest of a write that was cut short fails.
    cut: bool,
    death: Option<Death>,
    story: Vec<String>,
}

/// What becomes of a change.
enum Fate {
    Done,
    Fails(Error),
    /// It is done, and an error told.
    FailsAfter(Error),
}

thread_local! {
    static DISK: RefCell<Option<Rc<RefCell<Disk>>>> = const { RefCell::new(None) };
}

impl FaultyDisk {
    /// A disk for this thread with up to `faults` faults, one in up to `every` changes. What is removed is
    /// put into the folder `aside`, which is on the same file system, until it is gone for good.
    pub fn new(seed: u64, faults: u32, every: u64, aside: impl Into<PathBuf>) -> Self {
        let mut random = Random::new(seed);
        let countdown = random.below(every.max(1)) + 1;
        Self::of(random, faults, every.max(1), countdown, None, aside.into())
    }

    /// A disk for this thread of which the change of this number, from 1, goes wrong.
    pub fn failing_at(change: u64, fault: Fault, aside: impl Into<PathBuf>) -> Self {
        Self::of(Random::new(change), 1, 1, change, Some(fault), aside.into())
    }

    fn of(
        random: Random,
        faults: u32,
        every: u64,
        countdown: u64,
        planned: Option<Fault>,
        aside: PathBuf,
    ) -> Self {
        let disk = Rc::new(RefCell::new(Disk {
            random,
            losses: Losses::new(aside),
            faults,
            every,
            countdown,
            planned,
            full: 0,
            cut: false,
            death: None,
            story: Vec::new(),
        }));
        DISK.set(Some(disk.clone()));
        Self(disk)
    }

    /// The process has died: nothing that it does any more reaches the disk.
    pub fn is_dead(&self) -> bool {
        self.0.borrow().death.is_some()
    }

    /// The process dies now.
    pub fn die(&self, death: Death) {
        let mut disk = self.0.borrow_mut();
        disk.story.push(format!("{death:?}"));
        disk.death = Some(death);
    }

    /// The process starts again, on what its end left of the disk's contents.
    pub fn restart(&self) {
        let disk = &mut *self.0.borrow_mut();
        if disk.death.take() == Some(Death::PowerLoss) {
            disk.losses.happen(&mut disk.random);
        }
        (disk.full, disk.cut) = (0, false);
    }

    /// No more faults come.
    pub fn calm(&self) {
        self.0.borrow_mut().faults = 0;
    }

    /// What went wrong so far.
    pub fn story(&self) -> Vec<String> {
        self.0.borrow().story.clone()
    }
}

impl Drop for FaultyDisk {
    fn drop(&mut self) {
        DISK.set(None);
    }
}

/// Makes a change, or has it fail.
pub(crate) fn change<T>(change: Change<'_>, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(disk) = DISK.with_borrow(Clone::clone) else { return make() };
    let mut disk = disk.borrow_mut();
    match disk.fate(&change) {
        Fate::Fails(error) => {
            if let Change::Sync(file) = change {
                disk.losses.forget_unsynced(file);
            }
            Err(error)
        }
        fate => {
            disk.losses.before(&change)?;
            let made = make()?;
            disk.losses.after(&change);
            if let Fate::FailsAfter(error) = fate { Err(error) } else { Ok(made) }
        }
    }
}

/// Removes something, or has that fail.
pub(crate) fn remove(path: &Path, how: Removal) -> io::Result<()> {
    let Some(disk) = DISK.with_borrow(Clone::clone) else { return how.make(path) };
    let mut disk = disk.borrow_mut();
    match disk.fate(&how) {
        Fate::Fails(error) => Err(error),
        Fate::Done => disk.losses.remove(path, how),
        Fate::FailsAfter(error) => disk.losses.remove(path, how).and(Err(error)),
    }
}

/// How many of the bytes that are to be written can be.
pub(crate) fn writable(path: &Path, bytes: usize) -> io::Result<usize> {
    let Some(disk) = DISK.with_borrow(Clone::clone) else { return Ok(bytes) };
    let mut disk = disk.borrow_mut();
    if std::mem::take(&mut disk.cut) {
        return Err(ErrorKind::StorageFull.into());
    }
    let write = Write(path);
    match disk.fate(&write) {
        Fate::Done => Ok(bytes),
        Fate::Fails(_) | Fate::FailsAfter(_) if disk.death.is_none() && disk.full == 0 => {
            let fitting = disk.random.below(bytes as u64 + 1) as usize;
            disk.cut = true;
            if fitting == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(fitting) }
        }
        Fate::Fails(error) | Fate::FailsAfter(error) => Err(error),
    }
}

/// A write, for the story.
#[derive(Debug)]
#[allow(dead_code, reason = "read by Debug")]
struct Write<'a>(&'a Path);

/// What a full disk cannot do.
trait Grows {
    fn grows(&self) -> bool;
    fn syncs(&self) -> bool {
        false
    }
}

impl Grows for Change<'_> {
    fn grows(&self) -> bool {
        matches!(self, Self::Create(_) | Self::MakeFolder(_))
    }

    fn syncs(&self) -> bool {
        matches!(self, Self::Sync(_) | Self::SyncFolder(_))
    }
}

impl Grows for Removal {
    fn grows(&self) -> bool {
        false
    }
}

impl Grows for Write<'_> {
    fn grows(&self) -> bool {
        true
    }
}

impl Disk {
    fn fate(&mut self, change: &(impl Grows + std::fmt::Debug)) -> Fate {
        if self.death.is_some() {
            return Fate::Fails(Error::other("the process is dead"));
        }
        if self.full > 0 {
            self.full -= 1;
            if change.grows() {
                return Fate::Fails(ErrorKind::StorageFull.into());
            }
        }
        self.countdown -= 1;
        if self.countdown > 0 || self.faults == 0 {
            self.countdown = self.countdown.max(1);
            return Fate::Done;
        }
        self.faults -= 1;
        self.countdown = self.random.below(self.every) + 1;
        let fault = self.planned.unwrap_or_else(|| Fault::random(&mut self.random));
        self.story.push(format!("{fault:?} at {change:?}"));
        let error = || Error::other("input/output error");
        match fault {
            Fault::ErrorAfter if !change.syncs() => Fate::FailsAfter(error()),
            Fault::Error | Fault::ErrorAfter => Fate::Fails(error()),
            Fault::Full => {
                self.full = 1 + self.random.below(30) as u32;
                Fate::Fails(ErrorKind::StorageFull.into())
            }
            Fault::Death(death) => {
                self.death = Some(death);
                Fate::Fails(Error::other("the process dies"))
            }
            Fault::DeathAfter(death) => {
                self.death = Some(death);
                Fate::FailsAfter(Error::other("the process dies"))
            }
        }
    }
}
