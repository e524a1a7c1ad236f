//! The files of an export.

use std::path::{Path, PathBuf};

use super::ExportError;
use crate::files::write_whole;

pub(super) struct Files<'a> {
    folder: &'a Path,
    written: Vec<PathBuf>,
}

impl<'a> Files<'a> {
    pub(super) fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            written: Vec::new(),
        }
    }

    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let path = self.folder.join(name);
        match write_whole(&path, bytes) {
            Ok(()) => {
                self.written.push(path);
                Ok(())
            }
            Err(source) => Err(ExportError::Io {
                action: "write",
                path,
                source,
            }),
        }
    }

    pub(super) fn written(self) -> Vec<PathBuf> {
        self.written
    }
}
