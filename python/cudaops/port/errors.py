# SPDX-License-Identifier: Apache-2.0


class PortError(Exception):
    """The message says what is wrong; the facts and the way out follow on lines of their own."""
