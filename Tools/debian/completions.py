"""The completions of bash, zsh and fish, from the tables of the help text."""
import re

# What the words for an argument mean to a shell; arguments of other names are free text.
FILES = ("FILE", "PATH")
# Choices that the help text has only in its sentences.
CHOICES = {"log-level": ("error", "warning", "info", "debug"), "air-timing": ("radio", "ideal"),
           "latency": ("any", "active", "pickup")}
# Choices of options that bench alone takes.
CHOICES_OF_BENCH = ("latency",)
# Those of an argument that is what it is called.
FROM = ("stdin", "none")
# The options of the commands that do not take them all.
OF_COMMAND = {
    "air": ("air", "air-timing", "air-loss", "vhci", "duration", "seed", "log-level"),
    "check": ("transcript",), "ctl": ("control", "accessory", "json"),
    "bench": ("profile", "activity", "duration", "seed", "json"),
}
GENERAL = ("help", "version")
# The command that has a section of options for itself.
BENCH = "bench"
# The words that may follow it; the second is followed by files.
ACTIONS_OF_BENCH = ("validate", "merge")
# Whose operands are profiles.
TAKES_PROFILES = "check"


class Option:
    """A row of the options' table."""

    def __init__(self, left, text, words):
        self.name, _, self.argument = left.removeprefix("--").partition(" ")
        self.text = text
        self.is_profile = self.name == "profile"
        self.is_file = self.argument in FILES
        self.choices = {"SPEC": words.controllers, "SOURCE": words.sources, "FROM": FROM}.get(
            self.argument, CHOICES.get(self.name, ()))


class Words:
    """Everything that can be completed."""

    def __init__(self, tables):
        self.commands = tables["COMMANDS"]
        self.methods = [(left.split()[0], text) for left, text in tables["METHODS OF CTL"]]
        self.controllers = [prefix(left) for left, _ in tables["CONTROLLERS"]]
        self.sources = [prefix(left) for left, _ in tables["ACTIVITY SOURCES"]]
        self.options = [Option(left, text, self) for left, text in tables["OPTIONS"]]
        self.bench = [Option(left, text, self) for left, text in tables["OPTIONS OF BENCH"]]
        self.plain = [name for name, _ in self.commands if name != "run" and name not in OF_COMMAND]

    def options_of(self, command):
        """The options that a command takes."""
        if command in self.plain:
            return [option for option in self.options if option.name in GENERAL]
        only = OF_COMMAND.get(command)
        own = self.bench if command == BENCH else []
        return own + [option for option in self.options
                      if option.name in GENERAL or (only is None and option.name != "transcript")
                      or (only is not None and option.name in only)]


def prefix(form):
    """What of a form can be typed as it is: `serial:` of `serial:DEVICE,BAUD`."""
    return re.match(r"[a-z-]+:?", form).group(0)


def quoted(text):
    """A word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def fill(text, **parts):
    """The text with @NAME@ replaced."""
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


BASH = r"""# Completions of peripheral-emu for bash; made by Tools/manual.
_peripheral_emu() {
    # Bash breaks words at : and =, which arguments hold; the line itself does not.
    local line=${COMP_LINE:0:COMP_POINT} words option='' word command=run candidates='' files=''
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    word=${words[-1]}
    if ((${#words[@]} > 2)); then
        [[ ${words[1]} == -* ]] || command=${words[1]}
        option=${words[-2]}
    fi
    [[ $word == --*=* ]] && option=${word%%=*} word=${word#*=}
    case $option in
@ARGUMENTS@
        *)
            if [[ $word == -* ]]; then
                case $command in
@OPTIONS@
                esac
            elif ((${#words[@]} == 2)); then
                candidates='@COMMANDS@'
            elif [[ $command == ctl ]]; then
                candidates='@METHODS@'
            elif [[ $command == @BENCH@ ]] && ((${#words[@]} == 3)); then
                candidates='@ACTIONS@'
            elif [[ $command == @BENCH@ && ${words[2]} == merge ]]; then
                files=yes
            elif [[ $command == @TAKES@ ]]; then
                candidates=$(peripheral-emu profiles 2>/dev/null | cut -d ' ' -f 1) files=yes
            fi ;;
    esac
    local IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$candidates" -- "$word"))
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        IFS=$'\n'
        COMPREPLY+=($(compgen -f -- "$word"))
    fi
    [[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace 2>/dev/null
    # Bash replaces only what follows the last break.
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
    fi
}
complete -F _peripheral_emu peripheral-emu
"""


def bash(words):
    """The file for bash."""
    arguments = []
    for option in words.options + words.bench:
        if not option.argument:
            continue
        parts = []
        if option.is_profile:
            parts.append("candidates=$(peripheral-emu profiles 2>/dev/null | cut -d ' ' -f 1)")
        if option.is_file:
            parts.append("files=yes")
        if option.choices:
            parts.append(f"candidates='{' '.join(option.choices)}'")
        arguments.append(f"        --{option.name}) {' '.join(parts) or ':'} ;;")
    cases = []
    for name, _ in words.commands:
        if name != "run":
            cases.append(bash_options(words, name, name))
    cases.append(bash_options(words, "*", "run"))
    return fill(BASH, ARGUMENTS="\n".join(arguments), OPTIONS="\n".join(cases),
                COMMANDS=" ".join(name for name, _ in words.commands),
                METHODS=" ".join(name for name, _ in words.methods), TAKES=TAKES_PROFILES,
                BENCH=BENCH, ACTIONS=" ".join(ACTIONS_OF_BENCH))


def bash_options(words, pattern, command):
    """One case: the options of a command."""
    names = " ".join(f"--{option.name}" for option in words.options_of(command))
    return f"                    {pattern}) candidates='{names}' ;;"


ZSH = r"""#compdef peripheral-emu
# Completions of peripheral-emu for zsh; made by Tools/manual.

_peripheral_emu_profiles() {
    local -a names
    names=(${${(f)"$(peripheral-emu profiles 2>/dev/null)"}%% *})
    _alternative 'profiles:bundled profile:compadd -a names' 'files:file:_files'
}

_peripheral_emu() {
    local -a commands methods
    commands=(
@COMMANDS@
    )
    methods=(
@METHODS@
    )
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe command commands
        return
    fi
    case $words[2] in
@CASES@
    esac
}

_peripheral_emu "$@"
"""


def zsh(words):
    """The file for zsh."""
    cases = []
    for name, _ in [row for row in words.commands if row[0] != "run"] + [("*", "")]:
        specs = [zsh_option(option) for option in words.options_of("run" if name == "*" else name)]
        if name == "ctl":
            specs += [quoted("*:method:{_describe method methods}")]
        if name == BENCH:
            specs += [quoted(f"1:action:({' '.join(ACTIONS_OF_BENCH)})"), quoted("*:part:_files")]
        if name == TAKES_PROFILES:
            specs += [quoted("*:profile:_peripheral_emu_profiles")]
        lines = " \\\n                ".join(specs)
        # The command's own word is no operand.
        shift = "" if name == "*" else "shift words; (( CURRENT-- )); "
        cases.append(f"        {name}) {shift}_arguments \\\n                {lines} ;;")
    def rows(table):
        return "\n".join("        " + quoted(f"{name}:{text}") for name, text in table)
    return fill(ZSH, COMMANDS=rows(words.commands), METHODS=rows(words.methods),
                CASES="\n".join(cases))


def zsh_option(option):
    """The specification of an option for _arguments."""
    text = re.sub(r"([\[\]\\:])", r"\\\1", option.text)
    if not option.argument:
        return quoted(f"--{option.name}[{text}]")
    action = " "
    if option.is_profile:
        action = "_peripheral_emu_profiles"
    elif option.is_file:
        action = "_files"
    elif option.choices:
        choices = " ".join(option.choices).replace(":", "\\:")
        action = f"{{compadd -S '' -- {choices}}}"
    repeat = "*" if option.name in ("set", "scanner", "sweep") else ""
    argument = option.argument.replace(":", "\\:")
    return quoted(f"{repeat}--{option.name}=[{text}]:{argument}:{action}")


def fish(words):
    """The file for fish."""
    names = " ".join(name for name, _ in words.commands if name != "run")
    lines = ["# Completions of peripheral-emu for fish; made by Tools/manual.",
             "function __peripheral_emu_profiles",
             "    peripheral-emu profiles 2>/dev/null | string replace -r ' +' \\t",
             "end", "complete -c peripheral-emu -f"]
    for name, text in words.commands:
        lines.append("complete -c peripheral-emu -n __fish_use_subcommand "
                     f"-a {name} -d {fish_quoted(text)}")
    for name, text in words.methods:
        lines.append("complete -c peripheral-emu -n '__fish_seen_subcommand_from ctl' "
                     f"-a {name} -d {fish_quoted(text)}")
    lines.append(f"complete -c peripheral-emu -n '__fish_seen_subcommand_from {TAKES_PROFILES}' "
                 "-F -a '(__peripheral_emu_profiles)'")
    lines += [f"complete -c peripheral-emu -n '__fish_seen_subcommand_from {BENCH}' -a {name}"
              for name in ACTIONS_OF_BENCH]
    lines.append("complete -c peripheral-emu -n '__fish_seen_subcommand_from "
                 f"{ACTIONS_OF_BENCH[1]}' -F")
    for name, _ in words.commands:
        condition = (f"'not __fish_seen_subcommand_from {names}'" if name == "run"
                     else f"'__fish_seen_subcommand_from {name}'")
        for option in words.options_of(name):
            lines.append(f"complete -c peripheral-emu -n {condition} {fish_option(option)}")
    return "\n".join(lines) + "\n"


def fish_option(option):
    """The rest of the line for an option."""
    text = f"-l {option.name} -d {fish_quoted(option.text)}"
    if not option.argument:
        return text
    if option.is_file:
        text += " -rF"
    else:
        text += " -x"
    if option.is_profile:
        text += " -a '(__peripheral_emu_profiles)'"
    elif option.choices:
        text += f" -a '{' '.join(option.choices)}'"
    return text


def fish_quoted(text):
    """A word of fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
