//! No two files of a crate use each other in a circle.
//!
//! A file uses another one where a path in it, in code or in an import, leads to an item that the
//! other one defines. A path that leads through re-exports ends where the item is defined;
//! re-exporting by itself is no use. A module and the files of its folder are parts of one thing,
//! and may use each other. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

type Module = Vec<String>;

/// The modules of a crate, by path.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Module, Parsed>,
}

#[derive(Default)]
struct Parsed {
    file: PathBuf,
    /// Paths of the code and of imports that are not handed on.
    used: Vec<Module>,
    /// What is handed on under which name.
    handed_on: BTreeMap<String, Module>,
}

impl Crate {
    fn read(root: &Path) -> Self {
        let mut read = Self::default();
        read.module(Vec::new(), root.to_owned(), root.parent().unwrap());
        read
    }

    /// Reads the module in `file`, whose children lie in `folder`.
    fn module(&mut self, path: Module, file: PathBuf, folder: &Path) {
        let text = std::fs::read_to_string(&file).unwrap();
        let parsed = syn::parse_file(&text).unwrap();
        let mut found = Found::default();
        found.visit_file(&parsed);
        for name in found.children.iter().chain(&found.listed).cloned() {
            let places = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
            let child = places.into_iter().find(|place| place.exists());
            let Some(child) = child else {
                assert!(found.listed.contains(&name), "{} has no {name}", file.display());
                continue;
            };
            let path = path.iter().cloned().chain([name.clone()]).collect();
            self.module(path, child, &folder.join(name));
        }
        let Found { used, handed_on, .. } = found;
        self.modules.insert(path, Parsed { file, used, handed_on });
    }

    /// The module that defines what `path` names, as seen from `from`.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut at = from.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            first => {
                let child: Module = at.iter().cloned().chain([first.to_owned()]).collect();
                if !self.modules.contains_key(&child) {
                    return None;
                }
            }
        }
        while let Some((name, further)) = rest.split_first() {
            let child: Module = at.iter().cloned().chain([name.clone()]).collect();
            if name == "super" {
                at.pop();
            } else if self.modules.contains_key(&child) {
                at = child;
            } else if let Some(target) = self.modules[&at].handed_on.get(name) {
                // What other crates define is not followed.
                return if depth > 8 { None } else { self.resolve(&at, target, depth + 1) };
            } else {
                break;
            }
            rest = further;
        }
        Some(at)
    }

    /// Which files use which.
    fn arrows(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut arrows: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (module, parsed) in &self.modules {
            let targets = parsed.used.iter().filter_map(|path| self.resolve(module, path, 0));
            let related =
                |target: &Module| target.starts_with(module) || module.starts_with(target);
            let targets = targets.filter(|target| !related(target));
            let files = targets.map(|target| self.modules[&target].file.as_path());
            arrows.entry(&parsed.file).or_default().extend(files);
        }
        arrows
    }
}

/// The files of the crate with this root, without tests.
pub fn files(root: &Path) -> Vec<PathBuf> {
    Crate::read(root).modules.into_values().map(|parsed| parsed.file).collect()
}

/// What one file holds.
#[derive(Default)]
struct Found {
    children: Vec<String>,
    /// Files that a macro may declare.
    listed: Vec<String>,
    used: Vec<Module>,
    handed_on: BTreeMap<String, Module>,
}

impl Found {
    fn import(&mut self, tree: &syn::UseTree, mut path: Module, handed_on: bool) {
        let end = |name: &syn::Ident| path.iter().cloned().chain([name.to_string()]).collect();
        let (name, whole): (String, Module) = match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.import(&inner.tree, path, handed_on);
            }
            syn::UseTree::Group(group) => {
                let each = group.items.iter();
                return each.for_each(|tree| self.import(tree, path.clone(), handed_on));
            }
            syn::UseTree::Name(name) => (name.ident.to_string(), end(&name.ident)),
            syn::UseTree::Rename(renamed) => (renamed.rename.to_string(), end(&renamed.ident)),
            syn::UseTree::Glob(_) => ("*".to_owned(), path),
        };
        match handed_on {
            true => drop(self.handed_on.insert(name, whole)),
            false => self.used.push(whole),
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.require_list().map(|list| list.tokens.to_string());
        attribute.path().is_ident("cfg")
            && text.is_ok_and(|text| text == "test" || text.starts_with("any (test"))
    })
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        match item.content {
            _ if is_for_tests(&item.attrs) => {}
            Some(_) => syn::visit::visit_item_mod(self, item),
            None => self.children.push(item.ident.to_string()),
        }
    }

    /// A list in a macro may declare files: `kind file::Name`.
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if item.ident.is_none() {
            let text = item.mac.tokens.to_string();
            let named = text.split([';', ',']).filter_map(|entry| entry.split_once(" :: "));
            for (before, name) in named {
                let file = before.split_whitespace().last().unwrap_or("").to_owned();
                self.handed_on
                    .insert(name.trim().to_owned(), vec![file.clone(), name.trim().to_owned()]);
                self.listed.push(file);
            }
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let handed_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, Vec::new(), handed_on);
    }

    /// `pub(super)` names a module, and uses nothing of it.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.used.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

/// The files that lead back to themselves, with one that they use on the way.
fn circles(arrows: &BTreeMap<&Path, BTreeSet<&Path>>) -> Vec<String> {
    let reached = |from: &Path| {
        let mut seen: BTreeSet<&Path> = BTreeSet::new();
        let mut open: Vec<&Path> = arrows[from].iter().copied().collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(&arrows[file]);
            }
        }
        seen
    };
    let all: BTreeMap<&Path, BTreeSet<&Path>> =
        arrows.keys().map(|file| (*file, reached(file))).collect();
    let back = |file: &&Path| all[*file].contains(*file);
    let circle = |file: &Path| {
        let next = arrows[file].iter().find(|next| all[**next].contains(file));
        format!("{} uses {}", file.display(), next.unwrap_or(&file).display())
    };
    arrows.keys().copied().filter(back).map(circle).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(super::root().join("crates")).unwrap() {
        let source = folder.unwrap().path().join("src");
        let mains = ["lib.rs", "main.rs"].map(|name| source.join(name));
        let main = mains.iter().find(|main| main.exists()).unwrap();
        found.extend(circles(&Crate::read(main).arrows()));
    }
    assert!(found.is_empty(), "files in circles:\n{}", found.join("\n"));
}

#[test]
fn a_circle_through_a_re_export_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use b::B;");
    write("a.rs", "use crate::B; pub struct A(B);");
    write("b.rs", "pub struct B; fn f() { crate::c::g() }");
    write("c.rs", "use std::fmt; pub fn g() {} #[cfg(test)] mod tests { use crate::A; }");
    let lines = || circles(&Crate::read(&folder.path().join("lib.rs")).arrows());
    assert_eq!(lines(), Vec::<String>::new());
    write("c.rs", "pub fn g() -> crate::A { panic!() }");
    assert_eq!(lines().len(), 3, "{:?}", lines());
    write("c.rs", "mod a; pub fn g() { a::h() }");
    std::fs::create_dir(folder.path().join("c")).unwrap();
    write("c/a.rs", "use super::g; pub fn h() { g() }");
    assert_eq!(lines(), Vec::<String>::new());
}
