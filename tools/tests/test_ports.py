from campus_tools.launcher.ports import free_port_base


def test_no_port_base_is_given_twice() -> None:
    bases = [free_port_base() for _ in range(50)]
    assert len(set(bases)) == 50
