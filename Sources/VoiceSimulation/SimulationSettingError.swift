/// A setting of a simulation that cannot be simulated. Remedy: change `setting` as `requirement` says.
package struct SimulationSettingError: Error, Equatable, CustomStringConvertible {
    /// The setting, as a path of property names.
    package let setting: String
    /// What its value has to fulfil.
    package let requirement: String

    /// One sentence for a log or a terminal.
    package var description: String { "\(setting) \(requirement)" }
}

/// Throws unless the condition holds.
func require(_ holds: Bool, _ setting: String, _ requirement: String) throws(SimulationSettingError) {
    guard holds else { throw SimulationSettingError(setting: setting, requirement: requirement) }
}
