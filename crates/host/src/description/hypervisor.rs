//! Whether this is a virtual machine, and which hypervisor runs it.
//!
//! Invariant of the unsafe code: it executes `cpuid`, which every x86-64 processor has.

use std::path::Path;

use serde::Serialize;

use crate::system_file;

/// A hypervisor below the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VirtualMachine {
    /// The hypervisor's name, if it reveals one.
    pub hypervisor: Option<String>,
}

/// Reads the kernel's files.
pub(super) fn read(root: &Path) -> Option<VirtualMachine> {
    let text = |relative: &str| system_file::text(root, relative);
    let name = text("sys/hypervisor/type")
        // The device tree's strings end with a zero byte.
        .or_else(|| {
            text("proc/device-tree/hypervisor/compatible")
                .map(|name| name.trim_end_matches('\0').to_owned())
        })
        .or_else(|| {
            text("sys/class/dmi/id/product_name")
                .filter(|name| VIRTUAL.iter().any(|v| name.contains(v)))
        })?;
    Some(VirtualMachine { hypervisor: Some(name) })
}

/// Product names of virtual machines, used if the processor does not reveal one.
const VIRTUAL: [&str; 5] = ["KVM", "QEMU", "VMware", "VirtualBox", "Virtual Machine"];

/// Asks the processor. Only hypervisors set bit 31 of ecx in leaf 1; leaf 4000_0000 holds their
/// name.
#[cfg(target_arch = "x86_64")]
pub(super) fn ask_processor() -> Option<VirtualMachine> {
    // The oldest supported compiler needs `unsafe` here; in newer ones the function is safe.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has cpuid.
    let leaf = |leaf| unsafe { std::arch::x86_64::__cpuid(leaf) };
    if leaf(1).ecx >> 31 & 1 == 0 {
        return None;
    }
    let name = leaf(0x4000_0000);
    let bytes = [name.ebx, name.ecx, name.edx].map(u32::to_le_bytes).concat();
    Some(VirtualMachine { hypervisor: product(&bytes) })
}

/// Other processors have no such flag.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn ask_processor() -> Option<VirtualMachine> {
    None
}

/// The product that the leaf's twelve bytes stand for, or else the bytes as text.
#[cfg(any(test, target_arch = "x86_64"))]
pub(super) fn product(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let signature = text.trim_matches(['\0', ' ']);
    let known = match signature {
        "" => return None,
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU (emulated)",
        "VBoxVBoxVBox" => "VirtualBox",
        "bhyve bhyve" => "bhyve",
        "ACRNACRNACRN" => "ACRN",
        other => other,
    };
    Some(known.to_owned())
}
