//! Files that are there whole or not at all, and stay there after a crash.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::StoreError;

const TEMPORARY_PREFIX: &str = ".whetstone-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Makes a folder and those above it, each surviving a crash.
pub(super) fn create_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        create_folder(parent)?;
    }
    match fs::create_dir(path) {
        Ok(()) => sync_folder(parent.unwrap_or(Path::new("."))),
        // Another thread may have been quicker.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(StoreError::io("make folder", path)(error)),
    }
}

/// Makes renames and removals in a folder survive a crash. Windows has no such call and needs none.
pub(super) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::io("sync folder", path))?;
    }
    Ok(())
}

/// Writes a file through a temporary name in the same folder, which is made when missing.
pub(super) fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX);
    // Temporary files are private by default; these become data that colleagues and services read.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder
        .tempfile_in(folder)
        .map_err(StoreError::io("write into", folder))?;
    fill(file.as_file_mut())?;
    file.as_file()
        .sync_all()
        .map_err(StoreError::io("write", path))?;
    file.persist(path)
        .map_err(|error| StoreError::io("write", path)(error.error))?;
    sync_folder(folder)
}

pub(super) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_atomically(path, |file| {
        file.write_all(bytes).map_err(StoreError::io("write", path))
    })
}

/// The bytes of a file, or `None` when there is no such file.
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Removes a file; one that is gone already is as good.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io("remove", path)(error)),
    }
}

/// The entries of a folder in name order; none when there is no such folder.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read folder", folder)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(StoreError::io("read folder", folder))?.path());
    }
    paths.sort_unstable();
    Ok(paths)
}

/// The last component of a path, when it is text.
pub(super) fn name_of(path: &Path) -> Option<String> {
    path.file_name()
        .and_then(|name| name.to_str())
        .map(str::to_owned)
}

/// Whether a file is what an interrupted [`write_atomically`] leaves behind.
pub(super) fn is_temporary(path: &Path) -> bool {
    name_of(path)
        .is_some_and(|name| name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX))
}
