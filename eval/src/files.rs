//! Files are written as a whole: a reader sees the old one or the new one, never a part.

use std::io::{self, Write as _};
use std::path::Path;

pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".whetstone-")
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        // Temporary files are private; what is exported is for others to read.
        use std::os::unix::fs::PermissionsExt as _;
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
