/* SPDX-License-Identifier: Apache-2.0 */
#include "base/demangle/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/check.h"

static const struct {
	const char *mangled;
	const char *plain;
} names[] = {
	{"_Z1fv", "f()"},
	{"_ZN3app6work_3IfEEvPT_i", "void app::work_3<float>(float*, int)"},
	{"_Z1fPFivEPA3_iMN1a1bEKFvdE", "f(int (*)(), int (*) [3], void (a::b::*)(double) const)"},
	{"_Z1fIA17_cEvRKT_", "void f<char [17]>(char const (&) [17])"},
	{"_Z1fIRiEvOT_", "void f<int&>(int&)"},
	{"_Z1fIJiPfEEvDpRKT_", "void f<int, float*>(int const&, float* const&)"},
	{"_Z1fIJEEvDpT_", "void f<>()"},
	{"_Z1fILj4ELb1ELin3EL1e2EEvv", "void f<4u, true, -3, (e)2>()"},
	{"_ZN1aC2ERKS_", "a::a(a const&)"},
	{"_ZNK1a5beginEv", "a::begin() const"},
	{"_ZN1alsIiEERS_T_", "a& a::operator<< <int>(int)"},
	{"_ZN12_GLOBAL__N_11fE", "(anonymous namespace)::f"},
	{"_ZN2at6native39_GLOBAL__N__0000000c_7_Sort_cu_0123456710fillKernelEv",
         "at::native::(anonymous namespace)::fillKernel()"},
	{"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_"
         "T1_",
         "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
         "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"},
	{"_Z1gIZZ1fRiENKUlvE0_clEvEUlfT_E_EvS2_",
         "void g<f(int&)::{lambda()#2}::operator()() const::{lambda(float, auto:1)#1}>(f(int&)::"
         "{lambda()#2}::operator()() const::{lambda(float, auto:1)#1})"},
	{"_ZN4llvm10checkedAddIiEENSt9enable_ifIXsr3std9is_signedIT_EE5valueES2_E4typeES2_S2_",
         "std::enable_if<std::is_signed<int>::value, int>::type llvm::checkedAdd<int>(int, int)"},
	{"_Z1fIiEDTcl3addfp_Li1EEET_", "decltype (add({parm#1}, 1)) f<int>(int)"},
	{"_ZTV1a", "vtable for a"},
	{"_Z1fv.constprop.0", "f() [clone .constprop.0]"},
};

Test(demangle, writes_names_as_compilers_do)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = gt_demangle(names[i].mangled);

		cr_assert(text != NULL, "%s", names[i].mangled);
		expect_text(text, names[i].plain);
		free(text);
	}
}

Test(demangle, leaves_alone_what_is_not_mangled)
{
	/* "a" and "Pf" are codes of C++ types, but no names. */
	static const char *const others[] = {"",           "_",           "_Z",
	                                     "a",          "Pf",          "plain_c",
	                                     "_Znonsense", "_Z1fi extra", "triton_red_fused_0"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(gt_demangle(others[i]) == NULL, "%s", others[i]);
}

Test(demangle, bears_names_that_are_cut_off_anywhere)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t length = 0; length < strlen(names[i].mangled); length++) {
			char *cut = strndup(names[i].mangled, length);

			free(gt_demangle(cut));
			free(cut);
		}
}

/* In memory that ends with them, for the address sanitizer. */
Test(demangle, refuses_names_that_end_inside_a_pair_of_letters)
{
	static const char *const cut[] = {"_Z1fD",   "_Z1fTs",  "_Z1fITs",
	                                  "_Z1fIXf", "_Z1fDTf", "_Z1fDTclf"};

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		char *name = strdup(cut[i]);

		cr_expect(gt_demangle(name) == NULL, "%s", name);
		free(name);
	}
}

Test(demangle, reads_names_of_thousands_of_characters)
{
	char mangled[8192] = "_Z1fI";
	char *text;

	for (size_t i = 0; i < 1500; i++)
		strcat(mangled, "3abc");
	strcat(mangled, "EvT_");
	text = gt_demangle(mangled);
	cr_assert(text != NULL);
	cr_expect(strncmp(text, "void f<abc, abc,", 16) == 0);
	free(text);
}

/* Writes the number of a substitution behind a text, as the ABI counts them. */
static void add_substitution(char *text, unsigned number)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	number--;
	if (number < 36)
		sprintf(text + strlen(text), "S%c_", digits[number]);
	else
		sprintf(text + strlen(text), "S%c%c_", digits[number / 36], digits[number % 36]);
}

/* Each parameter is a pair of the one before: the last is 2^60 names long. */
Test(demangle, refuses_a_name_that_doubles_its_text_again_and_again, .timeout = 10)
{
	char mangled[4096] = "_Z1f1a1pIS_S_E";

	for (unsigned level = 0; level < 60; level++) {
		strcat(mangled, "S0_I");
		add_substitution(mangled, 2 + level);
		add_substitution(mangled, 2 + level);
		strcat(mangled, "E");
	}
	cr_expect(gt_demangle(mangled) == NULL);
}

/* A pack that is empty writes nothing, however often it is asked for. */
Test(demangle, refuses_a_name_that_takes_for_ever_to_say_nothing, .timeout = 10)
{
	char mangled[4096] = "_Z1fIJEEv1pIDpT_DpT_E";

	for (unsigned level = 0; level < 60; level++) {
		strcat(mangled, "S1_I");
		add_substitution(mangled, 4 + level);
		add_substitution(mangled, 4 + level);
		strcat(mangled, "E");
	}
	free(gt_demangle(mangled));
}

Test(demangle, refuses_names_that_are_too_deep_or_too_long)
{
	const size_t size = 1 << 20;
	char *mangled = gt_allocate(size + 1);

	memset(mangled, 'P', size);
	mangled[size] = '\0';
	memcpy(mangled, "_Z1f", 4);
	cr_expect(gt_demangle(mangled) == NULL);
	mangled[5000] = 'i';
	mangled[5001] = '\0';
	cr_expect(gt_demangle(mangled) == NULL);
	free(mangled);
}
