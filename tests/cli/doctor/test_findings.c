/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>

#include "cli/doctor/made_up.h"

static struct made_up machine;

static void make(void)
{
	made_up_init(&machine);
}

static void drop(void)
{
	made_up_release(&machine);
}

TestSuite(findings, .init = make, .fini = drop);

/* Looks, and expects one finding of that name and severity, with a part of its text. */
static void expect(const char *id, enum gt_severity severity, const char *part)
{
	struct gt_findings findings = {0};
	size_t count = 0;

	gt_findings_look(&findings, &machine.world);
	gt_array_each(const struct gt_finding, finding, &findings.list) {
		if (finding->severity != GT_SEVERITY_OK)
			cr_expect(finding->costs && finding->mend, "%s", finding->found);
		if (strcmp(finding->id, id) != 0 || finding->severity != severity)
			continue;
		count++;
		cr_expect(strstr(finding->found, part) != NULL, "%s", finding->found);
	}
	cr_expect(eq(sz, count, 1), "%s", id);
	gt_findings_release(&findings);
}

static void expect_error(const char *id, const char *part)
{
	expect(id, GT_SEVERITY_ERROR, part);
}

static void expect_warning(const char *id, const char *part)
{
	expect(id, GT_SEVERITY_WARNING, part);
}

/* Nothing is said of it but that it is fine. */
static void expect_fine(const char *id)
{
	struct gt_findings findings = {0};

	gt_findings_look(&findings, &machine.world);
	gt_array_each(const struct gt_finding, finding, &findings.list)
		if (strcmp(finding->id, id) == 0)
			cr_expect(eq(int, finding->severity, GT_SEVERITY_OK), "%s", finding->found);
	gt_findings_release(&findings);
}

/* The words that the mending step of the first finding of that name must have. */
static void expect_mend(const char *id, const char *part)
{
	struct gt_findings findings = {0};
	const char *mend = "";

	gt_findings_look(&findings, &machine.world);
	gt_array_each(const struct gt_finding, finding, &findings.list)
		if (strcmp(finding->id, id) == 0 && finding->mend && !*mend)
			mend = finding->mend;
	cr_expect(strstr(mend, part) != NULL, "%s", mend);
	gt_findings_release(&findings);
}

Test(findings, are_fine_on_a_machine_where_all_is_well)
{
	struct gt_findings findings = {0};

	gt_findings_look(&findings, &machine.world);
	cr_expect(eq(sz, findings.errors, 0));
	cr_expect(eq(sz, findings.warnings, 0));
	cr_expect(gt(sz, findings.list.count, 0));
	gt_findings_release(&findings);
}

Test(findings, put_the_worst_first)
{
	struct gt_findings findings = {0};

	strcpy(machine.world.answer.gpus.names[0], "GRID T4-16C");
	machine.world.library = (struct gt_error){ENOENT, "cannot find it"};
	gt_findings_look(&findings, &machine.world);
	cr_assert(gt(sz, findings.list.count, 2));
	expect_text(findings.list.rows[0].id, "library");
	expect_text(findings.list.rows[1].id, "vgpu");
	cr_expect(eq(int, findings.list.rows[2].severity, GT_SEVERITY_OK));
	cr_expect(eq(sz, findings.errors, 1));
	cr_expect(eq(sz, findings.warnings, 1));
	gt_findings_release(&findings);
}

Test(findings, explain_only_why_nothing_is_recorded)
{
	struct gt_findings findings = {0};

	strcpy(machine.world.answer.gpus.names[0], "GRID T4-16C");
	machine.world.library = (struct gt_error){ENOENT, "cannot find it"};
	gt_findings_explain(&findings, &machine.world);
	cr_assert(eq(sz, findings.list.count, 1));
	expect_text(findings.list.rows[0].id, "library");
	gt_findings_release(&findings);
}

/* ---- the driver and GPUs ---- */

Test(findings, have_a_missing_driver)
{
	strcpy(machine.world.answer.no_driver, "libcuda.so.1: cannot open");
	expect_error("driver", "libcuda.so.1: cannot open");
	expect_mend("driver", "Install NVIDIA's driver");
	expect_fine("cupti");
	made_up_file(&machine, "proc/driver/nvidia/version",
	             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23\n"
	             "GCC version:  gcc version 12.2.0\n");
	expect_mend("driver", "package of version 580.95.05 that has libcuda.so.1");
}

Test(findings, have_the_version_of_the_driver)
{
	made_up_file(
		&machine, "proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release\n");
	expect("driver", GT_SEVERITY_OK, "The driver 575.57.08 is for CUDA 13.0.");
}

Test(findings, have_a_driver_that_does_not_start)
{
	machine.world.answer.gpus = (struct gt_gpus){.driver_version = 13000, .result = 803};
	machine.world.answer.no_gpus = (struct gt_error){ENODEV, "cuInit says 803"};
	expect_error("driver", "cuInit says 803");
	expect_mend("driver", "restart");
	machine.world.answer.gpus.result = 802;
	expect_mend("driver", "systemctl start nvidia-fabricmanager");
	expect_fine("gpus");
}

Test(findings, have_a_driver_that_hangs)
{
	machine.world.answer = (struct gt_answer){.complete = false};
	expect_error("driver", "hangs or crashes");
	expect_fine("cupti");
}

Test(findings, have_a_machine_without_gpus)
{
	machine.world.answer.gpus = (struct gt_gpus){.driver_version = 13000, .result = 100};
	expect_error("gpus", "CUDA finds no GPU");
	expect_mend("gpus", "lspci");
	made_up_file(&machine, "proc/driver/nvidia/gpus/0000:19:00.0/information", "Model: H200\n");
	expect_mend("gpus", "docker run --gpus all");
	machine.environment[0] = "CUDA_VISIBLE_DEVICES=-1";
	expect_mend("gpus", "CUDA_VISIBLE_DEVICES is '-1'");
	expect("driver", GT_SEVERITY_OK, "for CUDA 13.0");
}

/* As root may open anything, a node that leads nowhere stands in for one without rights. */
Test(findings, have_a_device_that_may_not_be_opened)
{
	char path[PATH_MAX];

	made_up_path(&machine, "dev/nvidia2", path);
	cr_assert(eq(int, symlink(path, path), 0));
	expect_warning("gpus", "/dev/nvidia2");
	machine.world.answer.gpus = (struct gt_gpus){.driver_version = 13000, .result = 999};
	expect_error("gpus", "/dev/nvidia2");
}

/* ---- libcupti ---- */

static void lose_cupti(void)
{
	machine.world.answer.cupti[0] = '\0';
	machine.world.answer.cupti_version = 0;
	machine.world.answer.no_cupti = (struct gt_error){ENOENT, "libcupti.so.13 was not found"};
}

/* No Python of this machine is looked into. */
static void hide_python(void)
{
	cr_assert(eq(int, setenv("PATH", machine.folder.path, 1), 0));
}

Test(findings, have_a_missing_libcupti)
{
	lose_cupti();
	hide_python();
	expect_error("cupti", "libcupti.so.13 was not found");
}

Test(findings, have_a_libcupti_that_was_named_and_is_none)
{
	lose_cupti();
	machine.environment[0] = "GPUTRACE_CUPTI=/nowhere/libcupti.so";
	made_up_file(&machine, "start", "#!/bin/sh\n");
	made_up_program(&machine, "start", 0700);
	expect_error("cupti", "was not found");
	expect_mend("cupti", "unset GPUTRACE_CUPTI");
}

Test(findings, leave_open_what_a_script_loads_itself)
{
	lose_cupti();
	hide_python();
	made_up_file(&machine, "start", "#!/bin/sh\n");
	made_up_program(&machine, "start", 0700);
	expect_warning("cupti", "libcupti.so.13 was not found");
}

Test(findings, have_a_libcupti_among_the_packages_of_python)
{
	static const char elf[64] = ELFMAG;

	lose_cupti();
	hide_python();
	made_up_file(&machine, "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13",
	             "");
	expect_error("cupti", "was not found"); /* nothing leads there */
	made_up_bytes(&machine, "venv/bin/python3", elf, sizeof(elf));
	made_up_program(&machine, "venv/bin/python3", 0700);
	expect("cupti", GT_SEVERITY_OK, "nvidia/cu13/lib/libcupti.so.13");
	made_up_file(&machine, "app", "#!/bin/sh\n");
	made_up_program(&machine, "app", 0700);
	cr_assert(eq(int, setenv("PATH", "venv/bin", 1), 0));
	cr_assert(eq(int, chdir(machine.folder.path), 0));
	expect_warning("cupti", "among Python's packages alone");
	made_up_bytes(&machine, "compiled", elf, sizeof(elf));
	made_up_program(&machine, "compiled", 0700);
	expect_error("cupti", "among Python's packages alone");
}

Test(findings, have_a_libcupti_that_is_too_old)
{
	machine.world.answer.cupti_version = 21;
	expect_error("cupti", "CUPTI version 21");
}

Test(findings, have_a_libcupti_of_another_cuda)
{
	machine.world.answer.cupti_version = 26;
	expect_warning("cupti", "for CUDA 12, and the driver for CUDA 13");
	machine.world.answer.gpus.driver_version = 12080;
	expect("cupti", GT_SEVERITY_OK, "fits the driver");
	machine.world.answer.cupti_version = 130001;
	expect_warning("cupti", "for CUDA 13, and the driver for CUDA 12");
}

/* ---- gputrace, and tools around it ---- */

Test(findings, have_a_library_that_is_not_there)
{
	machine.world.library = (struct gt_error){ENOENT, "cannot find libgputrace-injection.so"};
	expect_error("library", "cannot find libgputrace-injection.so");
}

Test(findings, have_a_setting_that_records_nothing)
{
	machine.environment[0] = "GPUTRACE_DISABLE=0";
	expect_fine("disabled");
	machine.environment[0] = "GPUTRACE_DISABLE=1";
	expect_error("disabled", "GPUTRACE_DISABLE");
}

Test(findings, have_a_profiler_that_runs_all_this)
{
	made_up_file(&machine, "proc/self/status", "Name:\tgputrace\nPPid:\t70\n");
	made_up_file(&machine, "proc/70/status", "Name:\tsh\nPPid:\t60\n");
	made_up_file(&machine, "proc/70/comm", "sh\n");
	made_up_file(&machine, "proc/60/comm", "nsys-launcher\n");
	made_up_file(&machine, "proc/60/status", "Name:\tnsys-launcher\nPPid:\t0\n");
	expect_error("profiler", "nsys-launcher (process 60)");
	made_up_file(&machine, "proc/60/comm", "bash\n");
	expect_fine("profiler");
}

Test(findings, have_another_tools_library)
{
	machine.environment[0] = "CUDA_INJECTION64_PATH=/opt/other.so";
	machine.environment[1] = "NVTX_INJECTION64_PATH=/opt/nvtx.so";
	expect_warning("injection", "/opt/other.so");
	expect("injection", GT_SEVERITY_OK, "/opt/nvtx.so");
	machine.environment[0] = "CUDA_INJECTION64_PATH=/usr/lib/libgputrace-injection.so";
	machine.environment[1] = NULL;
	expect_fine("injection");
}

Test(findings, leave_the_profiler_plugin_of_nccl_alone)
{
	char folders[128];

	machine.environment[0] = "NCCL_PROFILER_PLUGIN=inspector";
	expect("nccl", GT_SEVERITY_OK, "inspector");
	snprintf(folders, sizeof(folders), "LD_LIBRARY_PATH=/nowhere:%s", machine.folder.path);
	machine.environment[0] = folders;
	made_up_file(&machine, "libnccl-profiler.so", "");
	expect("nccl", GT_SEVERITY_OK, "libnccl-profiler.so");
}

/* ---- rights ---- */

static void restrict_counters(const char *capabilities)
{
	char status[128];

	snprintf(status, sizeof(status), "Name:\tgputrace\nCapEff:\t%s\n", capabilities);
	made_up_file(&machine, "proc/driver/nvidia/params",
	             "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
	made_up_file(&machine, "proc/self/status", status);
}

Test(findings, have_counters_for_administrators_only)
{
	restrict_counters("00000000a80425fb"); /* as Docker leaves them */
	expect_warning("counters", "only administrators");
	expect_mend("counters", "NVreg_RestrictProfilingToAdminUsers=0");
	made_up_file(&machine, "proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	expect("counters", GT_SEVERITY_OK, "may be read");
}

Test(findings, trust_capabilities_outside_of_user_namespaces)
{
	restrict_counters("000001ffffffffff");
	expect("counters", GT_SEVERITY_OK, "may be read");
	made_up_file(&machine, "proc/self/uid_map", "         0          0 4294967295\n");
	expect("counters", GT_SEVERITY_OK, "may be read");
	made_up_file(&machine, "proc/self/uid_map", "         0       1000          1\n");
	expect_warning("counters", "only administrators");
}

Test(findings, have_who_may_hold_the_counters)
{
	made_up_file(&machine, "proc/812/comm", "nv-hostengine\n");
	made_up_file(&machine, "proc/x/comm", "ncu\n"); /* no process */
	expect_warning("counter_holders", "nv-hostengine runs (process 812)");
	expect_mend("counter_holders", "dcgmi profile --pause");
}

Test(findings, have_system_calls_that_are_refused)
{
	machine.world.move_pages_code = EPERM;
	expect_warning("system_calls", "move_pages: Operation not permitted");
	machine.world.move_pages_code = 0;
	machine.world.read_memory_code = EPERM;
	expect_warning("system_calls", "process_vm_readv");
	expect_mend("system_calls", "--cap-add SYS_PTRACE");
	machine.world.read_memory_code = ENOSYS;
	expect_mend("system_calls", "outside of this sandbox");
}

/* ---- parts of GPUs, and GPUs that are shared ---- */

Test(findings, have_a_gpu_that_is_divided)
{
	made_up_file(&machine, "proc/driver/nvidia/capabilities/mig/config",
	             "DeviceFileMinor: 1\n");
	made_up_file(&machine, "proc/driver/nvidia/capabilities/gpu0/mig/readme", "");
	expect_fine("mig"); /* it could be */
	made_up_file(&machine, "proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", "");
	made_up_file(&machine, "proc/driver/nvidia/capabilities/gpu1/mig/gi7/access", "");
	expect_warning("mig", "2 parts (MIG)");
	strcpy(machine.world.answer.gpus.names[0], "NVIDIA H200 MIG 1g.18gb");
	expect_warning("mig", "NVIDIA H200 MIG 1g.18gb");
}

Test(findings, have_a_virtual_gpu)
{
	strcpy(machine.world.answer.gpus.names[0], "NVIDIA A100-SXM4-80GB");
	expect_fine("vgpu");
	strcpy(machine.world.answer.gpus.names[0], "NVIDIA A40-48Q");
	expect_warning("vgpu", "NVIDIA A40-48Q");
}

Test(findings, have_mps)
{
	made_up_file(&machine, "proc/300/comm", "nvidia-cuda-mps\n");
	expect_warning("mps", "process 300");
	made_up_file(&machine, "proc/300/comm", "nvidia-persiste\n");
	expect_fine("mps");
	machine.environment[0] = "CUDA_MPS_PIPE_DIRECTORY=/tmp/mps";
	expect_warning("mps", "/tmp/mps");
}

/* ---- where the recording goes ---- */

Test(findings, have_a_folder_that_cannot_be_written)
{
	machine.world.folder_code = EROFS;
	expect_error("output", "Read-only file system");
}

Test(findings, have_a_disk_that_is_full)
{
	machine.world.room.free_bytes = 99;
	expect_error("output", "99 B are free");
	machine.world.room.known = false;
	expect("output", GT_SEVERITY_OK, "can be written.");
}

/* The folder that a look at this very machine takes for that of the recording. */
static void expect_folder(const char *output, const char *folder, int code)
{
	char variable[128];
	char *environment[] = {variable, NULL};

	snprintf(variable, sizeof(variable), "GPUTRACE_OUTPUT=%s", output);
	gt_world_look(&machine.world,
	              &(struct gt_world_choice){machine.folder.path, environment, NULL});
	expect_text(machine.world.folder, folder);
	cr_expect(eq(int, machine.world.folder_code, code), "%s", output);
	cr_expect(gt(u64, machine.world.room.needed_bytes, 0));
}

Test(findings, are_of_the_folder_that_the_recording_goes_to)
{
	cr_assert(eq(int, chdir(machine.folder.path), 0));
	made_up_file(&machine, "out/x", "");
	expect_folder("", ".", 0);
	expect_folder("app", ".", 0);
	expect_folder("none/%h", ".", 0);
	expect_folder("/app", "/", access("/", W_OK | X_OK) == 0 ? 0 : errno);
	expect_folder("out/app", "out", 0);
	expect_folder("out/", "out/", 0);
	expect_folder("new/", ".", 0);
	expect_folder("none/app", "none", ENOENT);
}

/* ---- the program ---- */

/* An ELF file of 64 bits with a segment of that type, which names a loader that is there. */
static void write_elf(const char *name, uint16_t machine_number, uint32_t segment,
                      const char *loader)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
		char loader[64];
	} file = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
	                 .e_type = ET_DYN,
	                 .e_machine = machine_number,
	                 .e_phoff = sizeof(Elf64_Ehdr),
	                 .e_phentsize = sizeof(Elf64_Phdr),
	                 .e_phnum = 1},
		.segment = {.p_type = segment,
	                    .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
	                    .p_filesz = strlen(loader) + 1},
	};

	strcpy(file.loader, loader);
	made_up_bytes(&machine, name, &file, sizeof(file));
}

Test(findings, have_a_program_that_is_not_there)
{
	gt_program_read(&machine.world.program, "./nothing-of-that-name");
	expect_error("program", "cannot run ./nothing-of-that-name");
	expect_fine("linking");
}

Test(findings, have_a_file_that_is_no_program)
{
	made_up_file(&machine, "app", "x");
	made_up_program(&machine, "app", 0600);
	expect_error("program", "Permission denied");
	expect_mend("program", "chmod +x");
}

Test(findings, have_a_script_whose_interpreter_is_not_there)
{
	made_up_file(&machine, "app", "#!/nowhere/python3 -u\n");
	made_up_program(&machine, "app", 0700);
	expect_error("program", "its interpreter /nowhere/python3 is not there");
}

Test(findings, have_a_script_with_line_ends_of_windows)
{
	made_up_file(&machine, "app", "#!/bin/sh\r\n");
	made_up_program(&machine, "app", 0700);
	expect_error("program", "its interpreter /bin/sh\r is not there");
}

Test(findings, follow_a_script_to_the_program_that_runs_it)
{
	char path[PATH_MAX];

	write_elf("runner", gt_elf_machine_here(), PT_LOAD, "");
	made_up_program(&machine, "runner", 0700);
	made_up_path(&machine, "", path);
	cr_assert(eq(int, setenv("PATH", path, 1), 0));
	made_up_file(&machine, "app", "#!/usr/bin/env -S A=1 runner -x\n");
	made_up_program(&machine, "app", 0700);
	expect("program", GT_SEVERITY_OK, "is a script that ");
	expect_warning("linking", "runner is linked statically");
}

Test(findings, have_a_static_program)
{
	write_elf("app", gt_elf_machine_here(), PT_LOAD, "");
	made_up_program(&machine, "app", 0700);
	expect_warning("linking", "linked statically");
	write_elf("app", gt_elf_machine_here(), PT_INTERP, "/proc/self/exe");
	made_up_program(&machine, "app", 0700);
	expect_fine("linking");
	expect("program", GT_SEVERITY_OK, "The program is ");
}

Test(findings, have_a_program_whose_loader_is_not_there)
{
	write_elf("app", gt_elf_machine_here(), PT_INTERP, "/nowhere/ld-linux.so");
	made_up_program(&machine, "app", 0700);
	expect_error("program", "its loader /nowhere/ld-linux.so is not there");
}

Test(findings, have_a_program_for_musl)
{
	char loader[PATH_MAX];
	char shorter[64];

	made_up_file(&machine, "ld-musl-x.so.1", "");
	made_up_path(&machine, "ld-musl-x.so.1", loader);
	cr_assert(lt(sz, strlen(loader), sizeof(shorter)));
	snprintf(shorter, sizeof(shorter), "%.63s", loader);
	write_elf("app", gt_elf_machine_here(), PT_INTERP, shorter);
	made_up_program(&machine, "app", 0700);
	expect_warning("linking", "musl");
}

Test(findings, have_a_program_for_another_processor)
{
	const uint16_t other = gt_elf_machine_here() == EM_RISCV ? EM_PPC64 : EM_RISCV;

	write_elf("app", other, PT_INTERP, "/nowhere/ld-linux.so");
	made_up_program(&machine, "app", 0700);
	expect_error("architecture", other == EM_RISCV ? "is for RISC-V" : "is for POWER");
	write_elf("app", gt_elf_machine_here(), PT_INTERP, "/proc/self/exe");
	made_up_program(&machine, "app", 0700);
	expect_fine("architecture");
}

Test(findings, have_a_program_with_more_rights)
{
	write_elf("app", gt_elf_machine_here(), PT_INTERP, "/proc/self/exe");
	made_up_program(&machine, "app", 04711);
	machine.world.program.rights_ignored = false; /* wherever the folder is mounted */
	expect_fine("rights");                        /* they are those of its user */
	machine.world.user++;
	expect_error("rights", "setuid");
	machine.world.program.rights_ignored = true;
	expect_fine("rights");
	made_up_program(&machine, "app", 02711);
	machine.world.program.rights_ignored = false;
	machine.world.group++;
	expect_error("rights", "setgid");
}

Test(findings, have_a_program_with_capabilities)
{
	write_elf("app", gt_elf_machine_here(), PT_INTERP, "/proc/self/exe");
	made_up_program(&machine, "app", 0700);
	machine.world.program.rights_ignored = false;
	machine.world.program.has_capabilities = true;
	machine.world.user = 0;
	expect_fine("rights");
	machine.world.user = 1000;
	expect_error("rights", "capabilities");
}
