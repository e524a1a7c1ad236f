//! The advisory lock of a store: one sealer at a time, and no reader in the middle of a rewrite.
//!
//! Recording an episode takes the lock shared, because each episode is a file of its own; sealing, appending
//! and removing take it exclusively. The operating system drops the lock of a killed process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use super::StoreError;

/// Holds the lock until dropped. Empty where the file system has no locks or a reader may not open the file.
#[derive(Debug)]
pub(super) struct Guard {
    _file: Option<File>,
}

const NAME: &str = ".lock";

fn open_for_writing(root: &Path) -> Result<File, StoreError> {
    let path = root.join(NAME);
    OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(&path)
        .map_err(StoreError::io("open", &path))
}

fn guard(file: File, result: std::io::Result<()>, root: &Path) -> Result<Guard, StoreError> {
    match result {
        Ok(()) => Ok(Guard { _file: Some(file) }),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Guard { _file: None }),
        Err(error) => Err(StoreError::io("lock", &root.join(NAME))(error)),
    }
}

pub(super) fn exclusive(root: &Path) -> Result<Guard, StoreError> {
    let file = open_for_writing(root)?;
    let result = file.lock();
    guard(file, result, root)
}

/// The exclusive lock when it is free and the folder writable.
pub(super) fn try_exclusive(root: &Path) -> Option<Guard> {
    let file = open_for_writing(root).ok()?;
    match file.try_lock() {
        Ok(()) => Some(Guard { _file: Some(file) }),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

pub(super) fn shared_for_writing(root: &Path) -> Result<Guard, StoreError> {
    let file = open_for_writing(root)?;
    let result = file.lock_shared();
    guard(file, result, root)
}

/// A store in a read-only folder is read without a lock: nobody can write there either.
pub(super) fn shared_for_reading(root: &Path) -> Guard {
    let file = File::open(root.join(NAME))
        .ok()
        .filter(|file| file.lock_shared().is_ok());
    Guard { _file: file }
}
