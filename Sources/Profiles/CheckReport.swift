// The text that `peripheral-emu check` prints.

/// What a profile becomes: attributes with handles, advertising bytes decoded, budgets used.
public enum CheckReport {
    public static func text(of profile: DeviceProfile) -> String { "" }
}
