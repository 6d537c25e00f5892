// A folder that one holder at a time has.
import Glibc
import LinuxIO
import Testing

@Suite struct PrivateFolderTests {
    @Test("a held folder is refused with its holder's process id, and free once that lets go")
    func held() throws {
        let top = "/tmp/peripheral-emu-folder-\(getpid())"
        let path = top + "/a/b"
        defer { for place in [path + "/lock", path, top + "/a", top] { remove(place) } }
        try {
            let folder = try PrivateFolder(path: path)
            #expect {
                try PrivateFolder(path: path)
            } throws: { error in
                guard let error = error as? SystemError else { return false }
                return error.code == EBUSY && error.reason == "the process \(getpid()) holds it"
            }
            #expect(folder.path == path)
        }()
        _ = try PrivateFolder(path: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(path + "/lock", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("a private file is its owner's alone, also where it was not")
    func file() throws {
        let path = "/tmp/peripheral-emu-private-\(getpid())"
        defer { remove(path) }
        close(open(path, O_CREAT | O_WRONLY, 0o644))
        try makePrivateFile(path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try renameFile(path, to: path + "x")
        #expect(!exists(path) && exists(path + "x"))
        try removeFile(path + "x")
        try removeFile(path + "x")
        #expect(!exists(path + "x"))
    }
}
