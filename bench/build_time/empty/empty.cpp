// SPDX-License-Identifier: Apache-2.0
int empty() { return 0; }
