//! Copies the modules out of their image.

use std::fs;
use std::path::Path;

/// Copies `files`, which lie beside `program`, and the program itself into `directory`.
///
/// A file appears there whole or not at all: it is copied under another name first.
pub(crate) fn install(program: &Path, directory: &Path, files: &[&str]) -> Result<(), String> {
    let source = program.parent().unwrap_or(Path::new("/"));
    let itself = program.file_name().and_then(|name| name.to_str()).ok_or("this program has no name")?;
    for file in files.iter().copied().chain([itself]) {
        if file.contains('/') {
            return Err(format!("{file}: a name, not a path"));
        }
        let unfinished = directory.join(format!(".{file}"));
        // The permissions are copied too: the program stays executable.
        fs::copy(source.join(file), &unfinished)
            .and_then(|_| fs::rename(&unfinished, directory.join(file)))
            .map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::install;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("portcullis-pod-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn copies_the_files_and_itself_and_leaves_nothing_else() {
        let (image, volume) = (folder("image"), folder("volume"));
        let program = image.join("portcullis-pod");
        fs::write(&program, "program").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(image.join("gateway.wasm"), "module").unwrap();

        install(&program, &volume, &["gateway.wasm"]).unwrap();
        assert_eq!(fs::read_to_string(volume.join("gateway.wasm")).unwrap(), "module");
        assert_eq!(fs::metadata(volume.join("portcullis-pod")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(&volume).unwrap().count(), 2);

        assert!(install(&program, &volume, &["../gateway.wasm"]).is_err());
        assert!(install(&program, &volume, &["missing.wasm"]).unwrap_err().starts_with("missing.wasm: "));
        fs::remove_dir_all(image).unwrap();
        fs::remove_dir_all(volume).unwrap();
    }
}
