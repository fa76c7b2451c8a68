# SPDX-License-Identifier: Apache-2.0
"""Where the lines of an op stand: in which if(), or in none; and the comments in place of those that aren't there."""

from .branches import flatten
from .cmake_text import merge_lists, words
from .conditions import assumed, classify, deciding, on, relevant, settle, switched
from .values import HOME, TORCH, Unknown, combine

GPU = "CudaTorchMatch_CUDA_ENABLED OR CudaTorchMatch_HIP_ENABLED"


class Blocks:
    def __init__(self, project, op):
        self.project, self.op = project, op
        self.lines = {}  # condition -> {section: lines}
        self.comments = {}  # section -> lines
        self.assumed = set()
        self.hip = {}  # section -> what is for HIP only
        self.unused = {}  # name -> what the environment can switch off, and no option here does
        self.required = False  # CUDA REQUIRED
        self.line = op.calls[0].line  # of the call at hand
        settled = settle(op.guard)
        self.where = classify(op.guard, settled)
        self.flipped = [option.name for option in self.where.options] + settled
        self.offer(self.where.options)
        for leaf in relevant(op.guard, settled):
            self.take(leaf, "!" not in "".join(one for one in settled if one.lstrip("!") == leaf.text))
        self.only_cuda = op.only_cuda = classify(op.guard, self.flipped).kind == "cuda"
        gpu = [call.test for call in op.calls if call.kind == "CUDAExtension" and not isinstance(call.test, bool)]
        # Without them there is no CUDA: CUDAOPS_BACKEND says it here.
        self.backend = {
            leaf.name
            for leaf in switched(combine("and", gpu), self.flipped, "cuda")
            if not any(test.holds("cuda", (*self.flipped, leaf.name)) for test in gpu)
        }
        self.unsaid(op.guard)
        # The op is there whatever they are, and so is all that stands under the same condition.
        self.ignored = {*self.unused, *self.backend}

    # ---- comments

    def note(self, line, what, file=None):
        return self.project.note(line, what, file or self.op.calls[0].file)

    def comment(self, section, line):
        line = line.replace(HOME, "$CUDA_HOME").replace(TORCH, "$TORCH")
        lines = self.comments.setdefault(section, [])
        if line not in lines:
            lines.append(line)

    def take(self, leaf, value=True):
        if leaf.text not in self.assumed:
            self.assumed.add(leaf.text)
            said = "taken as %s: %s" % ("true" if value else "false", leaf.text)
            self.comment("op", self.note(leaf.line, said, leaf.file))

    def unread(self, keyword, item):
        if isinstance(item, Unknown):
            return self.project.not_read(keyword, item, self.op.calls[0].file)
        return self.note(self.line, "not read: %s holds a %s" % (keyword, type(item).__name__.lower()))

    def left_out(self):
        """Comments about what no line has become."""
        for leaf in self.unused.values():
            said = ("left out: the argument %s" if leaf.text else "left out: %s in the environment") % leaf.name
            if leaf.name in self.backend and not self.required:
                said += "; -DCUDAOPS_BACKEND=CPU builds without CUDA"
            self.comment("op", self.note(leaf.line, said, leaf.file))
        for section, names in self.hip.items():
            said = "left out, for HIP: " + " ".join(dict.fromkeys(names))
            self.comment(section, self.note(self.op.calls[0].line, said))

    # ---- conditions

    def offer(self, options):
        for option in options:
            self.project.options.setdefault(option.name, option)

    def elsewhere(self, guard):
        """For another platform: nothing to say where it can't be read."""
        return classify(guard, self.flipped).kind in ("hip", "never")

    def unsaid(self, guard):
        where = classify(guard, self.flipped)
        if where.kind in ("always", "cuda", "cpu"):
            for leaf in switched(guard, self.flipped, "cpu" if where.kind == "cpu" else "cuda", unknown=True):
                self.unused.setdefault(leaf.name, leaf)

    def condition(self, guard, section, text):
        """(whether it is emitted, its `if()`); what is not emitted becomes a comment."""
        where = classify(guard, self.flipped, ignored=self.ignored)
        if where.kind == "doubt":
            leaf, where_it_holds = deciding(guard, self.flipped)
            self.comment(section, self.note(leaf.line, "not read: %s, %s" % (text, where_it_holds), leaf.file))
        if where.kind == "hip":
            self.hip.setdefault(section, []).append(str(text))
        if where.kind in ("doubt", "hip", "never"):
            return False, ""
        everywhere = self.only_cuda or self.required
        terms = []
        if where.kind != "option":
            for leaf in switched(guard, self.flipped, "cpu" if where.kind == "cpu" else "cuda"):
                if leaf.name in self.ignored or leaf.text == "argv":
                    self.unused.setdefault(leaf.name, leaf)
                else:
                    self.offer([leaf])
                    terms.append(on(leaf, False))
        for leaf in assumed(guard, self.flipped):
            self.take(leaf)
        self.offer(where.options)
        if where.kind == "cpu" and everywhere:
            return False, ""
        device = {"cuda": "" if everywhere else GPU, "cpu": "NOT (%s)" % GPU}.get(where.kind, where.condition)
        if terms and device == GPU:
            device = "(%s)" % GPU
        return True, " AND ".join([device] * bool(device) + terms)

    # ---- lines

    def add(self, condition, section, line):
        lines = self.lines.setdefault(condition, {}).setdefault(section, [])
        if line not in lines:
            lines.append(line)

    def put(self, guard, section, kind, line, said=None):
        """`section`: of the comment where it isn't emitted; `said`: what the setup.py has."""
        emit, condition = self.condition(guard, section, line if said is None else said)
        if emit:
            self.add(condition, kind, line)

    def items(self, *keywords):
        """[(guard, value)] of an argument, over the calls that make the op."""
        lists = []
        for call in self.op.calls:
            lists.append([])
            for keyword in keywords:
                lists[-1] += flatten(words(call.argument(keyword)), call.test)
        return merge_lists(lists)

    def include_dirs(self):
        """Those of the calls, and setup()'s own, which are for each extension that it builds."""
        common = self.project.reader.setup.get("include_dirs")
        made = [flatten(common, call.test) for call in self.op.calls if call.kind.endswith("Extension")]
        return merge_lists([self.items("include_dirs", "extra_include_paths"), *made])

    def known(self, section, keyword, found):
        """Those that are texts; a comment for each other one that isn't for another platform."""
        for guard, item in found:
            if isinstance(item, str):
                yield guard, item
            elif isinstance(item, bool):
                pass  # stands for an option that isn't given
            elif not self.elsewhere(guard):
                self.comment(section, self.unread(keyword, item))

    def settle(self):
        """What stands with CUDA and without stands under no condition."""
        without = "NOT (%s)" % GPU
        for condition in [one for one in self.lines if one.startswith(without)]:
            rest = condition[len(without) :].removeprefix(" AND ")
            other = self.lines.get("(%s) AND %s" % (GPU, rest) if rest else GPU)
            for section, lines in self.lines[condition].items() if other else ():
                for line in [one for one in lines if one in other.get(section, [])]:
                    self.add(rest, section, line)
                    lines.remove(line)
                    other[section].remove(line)
        self.lines = {condition: self.lines[condition] for condition in sorted(self.lines, key=bool)}
